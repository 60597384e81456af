// A route: its schema, scope and handler in one place. Access has no default, so a route without it does not compile (S2).
// Handlers translate; the engine decides.

import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { ErrorCode } from '../core/error/codes.ts';
import type { Role, Scope } from '../protocol/scope.ts';
import type { Actor } from '../store/audit-port.ts';
import type { Caller } from './caller.ts';

/**
 * `public`: without a token, also in strict mode; a test checks the list. `authenticated`: any verified caller, whatever the
 * scopes.
 */
export type Access = Scope | 'public' | 'authenticated';

export interface RouteRequest<Params, Query, Body, Who> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Who;
  /** The actor, for the audit log. */
  readonly by: Actor;
  /** From the caller, or generated for this request; in every answer. */
  readonly correlationId: string;
  /** Undefined when the caller gave none: an execution then uses its own id. */
  readonly givenCorrelationId: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The body as it was sent, where `bodyKind` is `any` or `raw`; empty elsewhere. */
  readonly rawBody: Buffer;
  /** Aborted when the caller leaves or the server stops. */
  readonly signal: AbortSignal;
  readonly aside: Aside;
}

/** Waits without occupying the place of a working request. Null: too many requests wait already; answer at once instead. */
export type Aside = <Result>(work: () => Promise<Result>) => Promise<Result> | null;

export interface Answer {
  readonly status: number;
  /** An object is sent as JSON, a string as it is (with the content-type of `headers`). */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of a body: sent as it comes, e.g. server-sent events. */
  readonly stream?: AsyncIterable<string | Uint8Array>;
}

interface RouteShape {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** E.g. `/api/v1/executions/:executionId`. */
  readonly path: string;
  /** An older path of the route, which still works; the API's description leaves it out. */
  readonly alsoAt?: string;
  readonly summary: string;
  /** More than the summary has room for. */
  readonly description?: string;
  /** Heading in the reference. */
  readonly tag: string;
  /** By status: the body's schema; null: no body, or not JSON. */
  readonly responses: Readonly<Record<number, z.ZodType | null>>;
  /** The content type of its 200 if not JSON; with a schema, for callers that ask for it. */
  readonly sends?: string;
  /** The 404's code when a path parameter does not match its pattern (S9). */
  readonly notFound?: ErrorCode;
  /** `any`: every content type; JSON is parsed, the rest is text. `raw`: nothing is parsed, the handler reads `rawBody`. */
  readonly bodyKind?: 'json' | 'any' | 'raw';
  /** The schema of the body in the OpenAPI document, for routes whose body is validated by another layer. */
  readonly bodyShape?: z.ZodType;
  /** The body is the caller's own data: a `tenantId` in it means nothing to us. */
  readonly bodyIsPayload?: boolean;
  /**
   * Undeclared parameters are ignored, because outsiders call this address (probes, scrapers, browsers, senders of webhooks).
   * Everywhere else they are refused.
   */
  readonly anyQuery?: boolean;
  /** Read-only fields. A body may contain them, because clients read a resource, edit it and send it back. */
  readonly onlyShown?: readonly string[];
  /** An alternative scope: a manager of something may also read it. */
  readonly orScope?: Scope;
  /** The role needed besides the scope, where it concerns every tenant (S1). */
  readonly role?: Role;
  /** Throws if the address alone shows that the request will be refused, before its body is read (I21). */
  readonly refuseEarly?: (params: unknown) => void;
  /** Reads are recorded in the audit log. */
  readonly sensitive?: true;
  /** Part of the dashboard, not of the API: the API's description leaves it out. */
  readonly isPage?: boolean;
  /** Not rate limited. `streams`: only as a stream, which is limited by its place; otherwise it is an ordinary read. */
  readonly unlimited?: boolean | 'streams';
}

type Schema = z.ZodType | undefined;
type Parsed<S extends Schema> = S extends z.ZodType ? z.output<S> : undefined;
type CallerOf<A extends Access> = A extends 'public' ? null : Caller;

interface RouteDeclaration<A extends Access, P extends Schema, Q extends Schema, B extends Schema> extends RouteShape {
  readonly access: A;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  handle(request: RouteRequest<Parsed<P>, Parsed<Q>, Parsed<B>, CallerOf<A>>): Promise<Answer>;
}

export interface RouteSpec extends RouteShape {
  readonly access: Access;
  readonly params?: Schema;
  readonly query?: Schema;
  readonly body?: Schema;
  handle(request: RouteRequest<unknown, unknown, unknown, Caller | null>): Promise<Answer>;
}

/** Any one of these scopes is enough. Empty for public routes and for routes that only need a known caller. */
export function scopesOf({ access, orScope }: Pick<RouteSpec, 'access' | 'orScope'>): Scope[] {
  if (access === 'public' || access === 'authenticated') return [];
  return orScope === undefined ? [access] : [access, orScope];
}

export function defineRoute<
  const A extends Access,
  P extends Schema = undefined,
  Q extends Schema = undefined,
  B extends Schema = undefined,
>(declaration: RouteDeclaration<A, P, Q, B>): RouteSpec {
  // Sound because app.ts parses with these schemas before it calls the handler, and requires a caller unless public.
  return declaration as RouteSpec;
}

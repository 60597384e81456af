// Turns a raw request into one that handlers can rely on: ids by pattern (otherwise 404, S9), query and body by schema (all
// problems at once), and the token's tenant, whatever the request says (S1).

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ERROR_CODES } from '../core/error/codes.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { requestInvalid, requestProblems } from '../core/error/request-invalid.ts';
import { nearMiss } from '../core/problem/near-miss.ts';
import { pointerOf } from '../core/problem/pointer.ts';
import type { ProblemList } from '../core/problem/problem-list.ts';
import { isTenantId, TENANT_ID_RULE, tenantId } from '../protocol/identifier.ts';
import type { Caller } from './caller.ts';
import type { Correlation } from './correlation.ts';
import { readJsonBody } from './json-body.ts';
import { commonFields, type RequestPart, reportIssues } from './request-problem.ts';
import type { Aside, RouteRequest, RouteSpec } from './route.ts';

interface Visitor {
  readonly correlation: Correlation;
  readonly caller: Caller | null;
  /** Created on demand: most answers are sent at once. */
  readonly signal: () => AbortSignal;
  readonly aside: Aside;
}

export function readRequest(
  route: RouteSpec,
  request: FastifyRequest,
  { correlation, caller, signal, aside }: Visitor,
): RouteRequest<unknown, unknown, unknown, Caller | null> {
  const params = readParams(route, request.params);
  const rawBody = Buffer.isBuffer(request.body) ? request.body : NO_BYTES;
  const given = givenBody(route, request, rawBody);
  const problems = requestProblems();
  const asked = givenParameters(request.query as Record<string, unknown>);
  const query = readPart('query', route.query, asked, problems);
  reportParameters(route, asked, problems);
  const body = readPart('body', bodySchema(route, given), withoutOnlyShown(route, given), problems);
  reportOtherId(route, given, params, problems);
  if (problems.count > 0) throw requestInvalid(problems);
  return {
    params,
    query,
    body,
    caller: caller === null ? null : withTenant(caller, route.bodyIsPayload === true ? [asked] : [asked, given]),
    correlationId: correlation.id,
    by: { name: caller?.subject ?? 'nobody', correlationId: correlation.id },
    givenCorrelationId: correlation.given,
    headers: request.headers,
    rawBody,
    aside,
    get signal() {
      return signal();
    },
  };
}

export function readParams(route: RouteSpec, params: unknown): unknown {
  if (route.params === undefined) return undefined;
  const parsed = route.params.safeParse(params);
  if (parsed.success) return parsed.data;
  const code = route.notFound ?? 'NOT_FOUND';
  throw new PawlError(code, ERROR_CODES[code].message);
}

const NO_BYTES = Buffer.alloc(0);

function givenBody({ bodyKind }: RouteSpec, { body, headers }: FastifyRequest, rawBody: Buffer): unknown {
  if (bodyKind === 'raw') return undefined;
  return bodyKind === 'any' ? anyBody(rawBody.toString('utf8'), headers['content-type']) : body;
}

const NO_FIELDS = z.strictObject({ tenantId: tenantId.optional() });

/** A route without a body schema needs no body. A body with fields is refused, because nothing would act on them. */
function bodySchema({ body, bodyKind }: RouteSpec, given: unknown): z.ZodType | undefined {
  if (bodyKind === 'raw') return undefined;
  return body ?? (given === undefined || bodyKind === 'any' ? undefined : NO_FIELDS);
}

function withoutOnlyShown({ onlyShown = [] }: RouteSpec, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !onlyShown.some((name) => Object.hasOwn(body, name))) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !onlyShown.includes(name)));
}

/** A resource that is sent back must go to its own address: the id in the body has to match. */
function reportOtherId({ onlyShown = [] }: RouteSpec, body: unknown, params: unknown, problems: ProblemList): void {
  const id = (body as { id?: unknown } | null | undefined)?.id ?? null;
  if (!onlyShown.includes('id') || id === null || Object.values(params as object).includes(id)) return;
  const message = 'is not the id in the address, and cannot change';
  problems.add(() => ({ code: 'CANNOT_CHANGE', path: '/id', message }));
}

function readPart(part: RequestPart, schema: z.ZodType | undefined, value: unknown, problems: ProblemList): unknown {
  if (schema === undefined) return undefined;
  // An absent body counts as empty; the schema decides whether that is fine.
  const parsed = parseLeavingOutNulls(schema, value === undefined ? {} : value);
  if (parsed.success) return parsed.data;
  reportIssues(part, parsed.error, schema, problems);
  const common = commonFields(schema, parsed.error);
  const rest = common?.safeParse(value ?? {});
  if (rest?.error !== undefined) reportIssues(part, rest.error, common!, problems);
  return undefined;
}

/** Many clients write null for an omitted field. Where null is not a value it is removed; payloads are left alone. */
function parseLeavingOutNulls(schema: z.ZodType, value: unknown): z.ZodSafeParseResult<unknown> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed;
  const nulls = parsed.error.issues.map(({ path }) => path).filter((path) => isNullMember(value, path));
  return nulls.length === 0 ? parsed : schema.safeParse(nulls.reduce(without, value));
}

function isNullMember(value: unknown, path: readonly PropertyKey[]): boolean {
  let at = value;
  for (const key of path) at = (at as Record<PropertyKey, unknown> | null | undefined)?.[key];
  return path.length > 0 && at === null;
}

/** Copies only the path. List elements stay, because the others would move. */
function without(value: unknown, [key, ...rest]: readonly PropertyKey[]): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => (index === key && rest.length > 0 ? without(item, rest) : item));
  }
  const { [key!]: member, ...others } = value as Record<PropertyKey, unknown>;
  return rest.length === 0 ? others : { ...others, [key!]: without(member, rest) };
}

/** Forms do not leave these out: a limit or cursor without a value is a mistake of the calling program. */
export const NEVER_EMPTY: ReadonlySet<string> = new Set(['limit', 'cursor']);

/** A filter without a value counts as absent, as forms send it (`?status=&search=`). */
function givenParameters(query: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(query).filter(([name, value]) => value !== '' || NEVER_EMPTY.has(name)));
}

/** An ignored filter would answer a different question, so unknown parameters are refused. */
function reportParameters(
  { query: schema, anyQuery }: RouteSpec,
  query: Record<string, unknown>,
  problems: ProblemList,
): void {
  if (anyQuery === true) return;
  const { shape = {} } = (schema ?? {}) as { shape?: Record<string, unknown> };
  const known = [...new Set([...Object.keys(shape), 'tenantId'])];
  for (const name of Object.keys(query).filter((name) => !known.includes(name))) {
    problems.add(() => {
      const near = nearMiss(name, known);
      const suggestion = near === undefined ? `there are ${known.join(', ')}` : `did you mean \`${near}\`?`;
      const path = pointerOf([name], '/query');
      return { code: 'UNKNOWN_PARAMETER', path, message: 'is not a parameter', suggestion };
    });
  }
}

/** JSON is parsed even without a JSON content type; only a declared JSON body must be valid. */
function anyBody(text: string, contentType: string | undefined): unknown {
  if (text === '') return text;
  if (/json/i.test(contentType ?? '')) return readJsonBody(text);
  try {
    return readJsonBody(text);
  } catch {
    return text;
  }
}

/** A `tenantId` in the query or the body must match the token's. Only in loose mode does it choose the tenant. */
function withTenant(caller: Caller, parts: readonly unknown[]): Caller {
  let { tenantId, tenantIsOpen = false } = caller;
  for (const part of parts) {
    const named = (part as { tenantId?: unknown } | null | undefined)?.tenantId;
    if (named === undefined || named === null) continue;
    tenantIsOpen = false;
    if (named === tenantId) continue;
    if (!caller.loose) throw new PawlError('TENANT_MISMATCH', ERROR_CODES.TENANT_MISMATCH.message);
    if (typeof named !== 'string' || !isTenantId(named)) {
      throw requestInvalid([{ code: 'BAD_FORMAT', path: '/tenantId', message: TENANT_ID_RULE }]);
    }
    tenantId = named;
  }
  return { ...caller, tenantId, tenantIsOpen };
}

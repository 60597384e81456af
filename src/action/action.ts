// The action contract. A definition is data plus one function; everything the function may touch comes through its context. It
// returns `{ outputs, resourceLinks? }` or throws: a TerminalError fails the node, a RetryableError is retried, any other error
// is retried by policy. An action runs at least once and gets a key that is the same for every attempt of its node (I7), to make
// its side effects safe to repeat.

import type { z } from 'zod';
import type { ArtifactContent, NewArtifact } from '../artifact/artifacts.ts';
import type { ArtifactRef } from '../protocol/step-output.ts';
import type { Credential } from './credential.ts';
import type { HttpClient } from './http-client.ts';
import type { ActionLog } from './log.ts';

export interface ActionSpec<Params extends z.ZodType, Outputs extends z.ZodType> {
  /** `connector.action`, from major version 2 on `connector.action-vN`; or a plan's step type (`DBT_RUN`). */
  readonly type: string;
  /** MAJOR.MINOR.PATCH. */
  readonly version: string;
  readonly connector: string;
  readonly category: string;
  readonly displayName?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** The replacement. Publishing a workflow that uses a deprecated action shows it as a warning. */
  readonly deprecationNotice?: string;
  /**
   * The codes that the action fails with, for the catalog and for authors of `codes` and `on`; absent: unknown. Codes that
   * every node may have (a timeout, a template error) need not be listed.
   */
  readonly codes?: readonly string[];
  readonly params: Params;
  /** Documents the outputs in the catalog and types `run`. At run time any JSON is accepted. */
  readonly outputs: Outputs;
  run(
    params: z.output<Params>,
    context: ActionContext,
  ): ActionResult<z.output<Outputs>> | Promise<ActionResult<z.output<Outputs>>>;
}

export interface ActionDefinition<Params extends z.ZodType = z.ZodType, Outputs extends z.ZodType = z.ZodType>
  extends ActionSpec<Params, Outputs> {
  readonly [ACTION]: true;
}

export interface ActionResult<Outputs = unknown> {
  readonly outputs: Outputs;
  /** Resources that the action created or found in other systems; recorded when the attempt succeeds. */
  readonly resourceLinks?: readonly ResourceLink[];
}

export interface ResourceKey {
  readonly system: string;
  readonly resourceType: string;
  readonly resourceId: string;
}

export interface ResourceLink extends ResourceKey {
  readonly url?: string;
}

export interface ActionContext {
  readonly executionId: string;
  readonly nodeId: string;
  /** Counted from 1. */
  readonly attempt: number;
  /**
   * An earlier run of this node may have had its effect: true for every attempt after the first, and for the first when its
   * runner died, stopped or lost its answer. Look for the effect before you cause it again.
   */
  readonly mayHaveRun: boolean;
  readonly idempotencyKey: string;
  readonly principal: Principal;
  readonly correlationId: string;
  readonly tenantId: string;
  /** W3C trace context of the attempt, for calls that do not go through `http`, which sends it by itself; null: none. */
  readonly traceparent: string | null;
  /** Aborted when the attempt times out or the execution stops. Work that continues after that is abandoned. */
  readonly signal: AbortSignal;
  readonly credentials: Credentials;
  /** The node's connection, or the default of its connector; null: none. */
  readonly credential: Credential | null;
  /** Refuses private addresses (S5), caps sizes and stops with `signal`. */
  readonly http: HttpClient;
  readonly log: ActionLog;
  /** Results too large for outputs: stored separately, with a pointer to put into the outputs. */
  readonly artifacts: AttemptArtifacts;
  /** Whether an execution already created this resource. Look here before you create it again. */
  readonly findResource: FindResource;
}

export interface AttemptArtifacts {
  put(artifact: NewArtifact, content: ArtifactContent): Promise<ArtifactRef>;
  /** The bytes behind the `uri` of a reference of this tenant. */
  open(uri: string): Promise<AsyncIterable<Uint8Array>>;
}

export interface Principal {
  readonly userId: string;
  readonly displayName: string;
  readonly email: string | null;
}

export interface Credentials {
  token(connectorId: string): string | undefined;
}

export type FindResource = (key: ResourceKey) => Promise<FoundResource | null>;

interface FoundResource {
  readonly executionId: string;
  readonly nodeId: string;
  readonly url: string | null;
}

/** Registered, so that definitions made with another copy of this package are recognised too. */
const ACTION = Symbol.for('pawl.action');

export function defineAction<Params extends z.ZodType, Outputs extends z.ZodType>(
  spec: ActionSpec<Params, Outputs>,
): ActionDefinition<Params, Outputs> {
  return { ...spec, [ACTION]: true };
}

export function isActionDefinition(value: unknown): value is ActionDefinition {
  return typeof value === 'object' && value !== null && (value as { [ACTION]?: unknown })[ACTION] === true;
}

// Lifecycles in the database: imported machines, one row per business object, its timeline, and pending work (a state's timeout,
// the outcome of a hook). Part of the storage port (port.ts). A trigger is decided in memory and written by compare-and-set on
// (instance, revision), many in one statement: state, timeline, messages and deliveries together or not at all. A decision on an
// outdated import or list of consumers is not written either: the generation, which every import and every change of a consumer
// raises, must be the one of the decision.

import type { LifecycleRows } from '../lifecycle/machine/rows.ts';
import type { NewDelivery, NewMessageRow } from './delivery-port.ts';
import type { JsonText, Timestamp } from './port.ts';

export interface LifecycleStore {
  /** The newest version if it has this checksum (changed: false), else a new version; raises the generation. */
  lifecycleImport(params: LifecycleImport): Promise<{ version: number; changed: boolean }>;
  /** In order of env and name, after the given pair; the newest version of each. */
  lifecycleList(params: {
    tenantId: string;
    after: { env: string; name: string } | null;
    limit: number;
  }): Promise<LifecycleVersion[]>;
  /** null: no such lifecycle or version. `version: null` = the newest. */
  lifecycleGet(params: {
    tenantId: string;
    env: string;
    name: string;
    version: number | null;
  }): Promise<LifecycleVersion | null>;
  /** Newest first, before the given version (null: from the newest); without the definitions. */
  lifecycleVersions(params: {
    tenantId: string;
    env: string;
    name: string;
    before: number | null;
    limit: number;
  }): Promise<Pick<LifecycleVersion, 'version' | 'checksum' | 'createdAt'>[]>;
  /** Changes with every import and every change of a consumer, of any tenant. */
  lifecycleGeneration(): Promise<string>;

  /** One answer per key, in order; null: no such instance. `seen`: the earlier entry of this requestId. */
  instanceLoad(params: { keys: (InstanceKey & { requestId: string | null })[] }): Promise<(LoadedInstance | null)[]>;
  /**
   * The hot path: one statement. A move is written with everything that belongs to it when the instance is at `revision` (0:
   * does not exist) and its requestId is new; otherwise nothing of it is. At most one move per instance in a batch. `current:
   * false`: the generation differs and nothing was written.
   */
  lifecycleApply(params: LifecycleBatch): Promise<{ current: boolean; applied: string[]; at: Timestamp }>;
  /** In its initial state, unless it exists. `current: false`: the generation differs and nothing was written. */
  instanceCreate(
    params: InstanceKey & {
      generation: string;
      instanceId: string;
      version: number;
      state: string;
      at: Timestamp;
      dueAt: Timestamp | null;
      actor: string | null;
      payload: string | null;
    },
  ): Promise<{ current: boolean; created: boolean }>;
  /**
   * An event that leads to the present state: only its requestId is used up. false: the instance is no longer at `revision`,
   * or the requestId was used before.
   */
  instanceStay(params: { instanceId: string; revision: number; requestId: string; event: string }): Promise<boolean>;
  /** Instances with a due timeout (never early, I8), claimed for `leaseMs`: by then it is applied, or due again. */
  instanceClaimDue(params: { limit: number; leaseMs: number }): Promise<{ due: InstanceRow[]; at: Timestamp }>;
  instanceList(params: {
    tenantId: string;
    env: string;
    definition: string;
    state: string | null;
    /** Instances whose externalRef has this prefix; '' or absent: all. */
    prefix?: string;
    /** An externalRef; '' at first. */
    after: string;
    limit: number;
  }): Promise<InstanceRow[]>;

  /** Oldest first. `after` is the cursor of the previous page's last entry; null at first. */
  timelineList(params: {
    tenantId: string;
    instanceId: string;
    after: string | null;
    limit: number;
  }): Promise<TimelineEntry[]>;
  /** A note of the application about an instance; no decision reads it. false: no such instance. */
  activityAdd(params: {
    tenantId: string;
    instanceId: string;
    activityId: string;
    activity: string;
    status: string;
    actor: string | null;
    payload: JsonText | null;
  }): Promise<boolean>;

  /** Outcomes of hooks whose event is still to be triggered, claimed for `leaseMs`. */
  reactionClaim(params: { limit: number; leaseMs: number }): Promise<Reaction[]>;
  reactionSettle(params: { reactionIds: string[] }): Promise<void>;
}

export interface InstanceKey {
  tenantId: string;
  env: string;
  definition: string;
  externalRef: string;
}

/** A machine as rows for SQL; `definition` and `policies` are compiled. */
export interface LifecycleImport extends LifecycleRows {
  readonly tenantId: string;
}

export interface LifecycleVersion {
  tenantId: string;
  env: string;
  name: string;
  version: number;
  newestVersion: number;
  checksum: string;
  definition: JsonText;
  policies: JsonText | null;
  createdAt: Timestamp;
}

export interface InstanceRow extends InstanceKey {
  instanceId: string;
  version: number;
  state: string;
  /** Counts the moves: the compare-and-set of lifecycleApply. */
  revision: number;
  stateSince: Timestamp;
  /** How often the timeout of this stay in the state has fired. */
  timeoutsFired: number;
  /** When the timeout is due, as last set; a claim moves it. */
  dueAt: Timestamp | null;
  createdAt: Timestamp;
}

export interface LoadedInstance extends InstanceRow {
  /** `revision`: after its move; null: it made none, because the instance was already there. */
  seen: { event: string; fromState: string; toState: string; revision: number | null } | null;
}

export interface LifecycleBatch {
  /** The generation of the decisions. */
  generation: string;
  moves: LifecycleMove[];
  messages: NewMessageRow[];
  deliveries: NewDelivery[];
  /** Reactions that these moves fulfil. */
  reactionsSettled: string[];
}

/** One applied trigger: the instance's next row and its timeline entry. */
export interface LifecycleMove extends InstanceKey {
  instanceId: string;
  version: number;
  /** Before the move; 0: the instance is created by it. */
  revision: number;
  event: string;
  fromState: string;
  toState: string;
  at: Timestamp;
  stateSince: Timestamp;
  timeoutsFired: number;
  dueAt: Timestamp | null;
  requestId: string;
  actor: string | null;
  payload: JsonText | null;
  cause: JsonText;
}

export interface TimelineEntry {
  cursor: string;
  at: Timestamp;
  kind: 'transition' | 'activity';
  event: string | null;
  fromState: string | null;
  toState: string | null;
  activity: string | null;
  status: string | null;
  actor: string | null;
  payload: JsonText | null;
  requestId: string | null;
  cause: JsonText | null;
  /** Messages about it, by ackGuid; null: none, or unknown (older than this column). */
  messages: string[] | null;
}

/** "This hook's consumers are done": an event to trigger, kept until it was (I1). */
export interface Reaction extends InstanceKey {
  reactionId: string;
  instanceId: string;
  event: string;
  ackGuid: string;
  outcome: 'succeeded' | 'failed';
  /** From the acknowledgement that ended the hook. */
  payload: JsonText | null;
}

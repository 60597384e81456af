// What starts executions, as the database keeps it: triggers, the times of schedules, and what became of every firing. Part
// of the one door to storage (port.ts). A schedule is claimed for a while, its slots are started, and only then is it moved
// on: whoever dies in between leaves it due again, and the request ids of its slots make the repetition harmless (I9).

import type { JsonText, Timestamp } from './port.ts';
import type { WorkflowStatus } from './workflow-port.ts';

export type TriggerType = 'Webhook' | 'Schedule' | 'Event' | 'Manual';
type FiringOutcome = 'started' | 'condition_false' | 'skipped' | 'failed';

export interface TriggerRecord {
  triggerId: string;
  tenantId: string;
  workflowId: string;
  triggerType: TriggerType;
  isEnabled: boolean;
  config: JsonText;
  activationCondition: string | null;
  hasSecret: boolean;
  workflowStatus: WorkflowStatus;
  workflowEnabled: boolean;
  workflowFormat: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
}

interface NewTrigger {
  triggerId: string;
  tenantId: string;
  workflowId: string;
  triggerType: TriggerType;
  isEnabled: boolean;
  config: JsonText;
  activationCondition: string | null;
  eventType: string | null;
  secrets: string[];
}

/** Undefined: as it is. */
export interface TriggerChange {
  tenantId: string;
  triggerId: string;
  isEnabled?: boolean | undefined;
  config?: JsonText | undefined;
  eventType?: string | null | undefined;
  activationCondition?: string | null | undefined;
}

export interface TriggerFilter {
  tenantId: string;
  workflowId?: string | undefined;
  triggerType?: TriggerType | undefined;
  isEnabled?: boolean | undefined;
}

export interface ClaimedSchedule {
  trigger: TriggerRecord;
  /** Of this claim: only its holder moves the schedule. */
  revision: number;
  /** No slot up to here is still to be fired. */
  settledThrough: Timestamp;
}

export interface SettledSchedule {
  triggerId: string;
  revision: number;
  settledThrough: Timestamp;
  /** When to look again; null: never. */
  dueAt: Timestamp | null;
}

export interface Firing {
  triggerId: string;
  requestId: string;
  slot: Timestamp | null;
  outcome: FiringOutcome;
  executionId: string | null;
  reason: string | null;
}

/** A firing to record, and what becomes a dead letter with it: a payload that was accepted and could not be used. */
export type NewFiring = Firing & { refused: { code: string; payload: JsonText } | null };

export type FiringRecord = Firing & { id: string; firedAt: Timestamp };

export interface TriggerStore {
  /** null: there is no such workflow. */
  triggerCreate(params: NewTrigger): Promise<TriggerRecord | null>;
  /** A schedule that says something else, or is enabled again, starts anew: nothing before this moment is caught up. */
  triggerUpdate(params: TriggerChange): Promise<TriggerRecord | null>;
  triggerDelete(params: { tenantId: string; triggerId: string }): Promise<boolean>;
  triggerGet(params: { tenantId: string; triggerId: string }): Promise<TriggerRecord | null>;
  /** By id, those after `afterId`. */
  triggerList(params: TriggerFilter & { afterId: string | null; limit: number }): Promise<TriggerRecord[]>;

  /** For any tenant: the caller proves itself with a signature. */
  webhookGet(params: { triggerId: string }): Promise<{ trigger: TriggerRecord; secrets: string[] } | null>;
  /** The new secret comes first; the one before it stays valid if it is kept. False: there is no such webhook. */
  webhookSecretAdd(params: {
    tenantId: string;
    triggerId: string;
    secret: string;
    keepPrevious: boolean;
    /** Only if it has none yet. */
    onlyFirst?: boolean;
  }): Promise<boolean>;

  /** Another text whenever anything about the triggers that wait for this type, or about their workflows, has changed. */
  eventTriggerStamp(params: { tenantId: string; eventType: string }): Promise<string>;
  /** Enabled triggers that wait for this type, by id, those after `afterId`. */
  eventTriggerList(params: {
    tenantId: string;
    eventType: string;
    afterId: string | null;
    limit: number;
  }): Promise<TriggerRecord[]>;

  /** Claims due schedules, the longest due first; no other process gets them for `leaseMs`. One statement. */
  scheduleClaim(params: {
    /** Absent: the database's clock. */
    at?: Timestamp | undefined;
    leaseMs: number;
    limit: number;
  }): Promise<{ claimed: ClaimedSchedule[]; at: Timestamp; nextDueAt: Timestamp | null }>;
  /** Moves schedules on and records what was fired, in one statement. A claim that was superseded moves nothing. */
  scheduleSettle(params: { items: SettledSchedule[]; firings: NewFiring[] }): Promise<void>;

  /** What was started stays; any other outcome is replaced. Of those that were not started: what an earlier firing had. */
  firingAdd(params: { firings: NewFiring[] }): Promise<{ triggerId: string; executionId: string }[]>;
  /** Newest first, those before `beforeId`. */
  firingList(params: {
    tenantId: string;
    triggerId: string;
    beforeId: string | null;
    limit: number;
  }): Promise<FiringRecord[]>;
  firingPurge(params: { olderThanMs: number; limit: number }): Promise<number>;
}

// Puts the trigger services together: management, outside causes, and schedules.

import type { Measure } from '../core/decider/input.ts';
import type { Limits } from '../core/expression/evaluation.ts';
import type { AuditStore } from '../store/audit-port.ts';
import type { OverviewStore } from '../store/overview-port.ts';
import type { TriggerStore } from '../store/trigger-port.ts';
import type { WorkflowLifeStore } from '../store/workflow-port.ts';
import { Judge } from './activation.ts';
import { Backfill } from './backfill.ts';
import type { StartExecution, TriggerObserver } from './firing.ts';
import { Intake, type IntakeDeps } from './intake.ts';
import { Scheduler, type SchedulerDeps, type SchedulerOptions } from './scheduler.ts';
import { Triggers } from './triggers.ts';
import { type FetchKeys, JwtCheck } from './webhook/jwt.ts';

export interface TriggeringDeps {
  readonly store: TriggerStore &
    Pick<OverviewStore, 'lastFirings' | 'lastMissed'> &
    Pick<WorkflowLifeStore, 'workflowFind'> &
    Pick<AuditStore, 'audited'>;
  readonly start: StartExecution;
  readonly tellWaiting?: IntakeDeps['tellWaiting'];
  /** Throws when the tenant may not have schedules. */
  readonly admitCron?: (tenantId: string) => Promise<void>;
  readonly holdSlot?: SchedulerDeps['holdSlot'];
  readonly observer: TriggerObserver;
  /** Limits of conditions and filters; absent: the defaults. */
  readonly expressionLimits?: Limits;
  /** Called with the duration of conditions. */
  readonly measure?: Measure | undefined;
  readonly timers: SchedulerDeps['timers'];
  readonly newId: () => string;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Fetches the keys of senders through the guarded client, because a tenant chose the address (S5). */
  readonly fetchKeys: FetchKeys;
  readonly wallClockMs: () => number;
  /** Strict: webhooks must prove their sender. */
  readonly strict: boolean;
  /** Whether accepted but unusable payloads become dead letters; default true. */
  readonly deadLetters?: boolean;
  readonly options: SchedulerOptions;
}

export interface Triggering {
  readonly triggers: Triggers;
  readonly intake: Intake;
  readonly backfill: Backfill;
  /** Not started: only processes that run executions start it. */
  readonly scheduler: Scheduler;
}

export function createTriggering({ expressionLimits: limits, fetchKeys, ...deps }: TriggeringDeps): Triggering {
  const judge = new Judge({ limits, measure: deps.measure });
  const proof = { jwt: new JwtCheck(fetchKeys), now: deps.wallClockMs };
  return {
    triggers: new Triggers(deps),
    intake: new Intake({ ...deps, judge, proof }),
    backfill: new Backfill({ ...deps, judge }),
    scheduler: new Scheduler({ ...deps, judge }),
  };
}

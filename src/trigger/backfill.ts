// Fires missed slots of a schedule between two times. Each slot uses the same request id as the scheduler, so it starts at most
// one execution, however often somebody asks (I9). Future slots are never fired (I8).

import { isoTime } from '../clock/clock.ts';
import { requestInvalid } from '../core/error/request-invalid.ts';
import type { Json } from '../core/json/json.ts';
import { type Actor, type AuditStore, SYSTEM } from '../store/audit-port.ts';
import type { NewFiring, TriggerRecord, TriggerStore } from '../store/trigger-port.ts';
import type { Judge } from './activation.ts';
import type { Schedule } from './cron.ts';
import {
  type Fired,
  fireTrigger,
  firingOf,
  isRepetition,
  type StartExecution,
  type TriggerObserver,
} from './firing.ts';
import { slotRequestOf } from './slot-request.ts';
import { scheduleOf } from './trigger-config.ts';
import { triggerNotFound } from './triggers.ts';

export interface BackfillDeps {
  readonly store: Pick<TriggerStore, 'triggerGet' | 'firingAdd'> & Pick<AuditStore, 'audited'>;
  readonly start: StartExecution;
  readonly judge: Judge;
  readonly admitCron?: (tenantId: string) => Promise<void>;
  readonly observer: TriggerObserver;
  readonly wallClockMs: () => number;
}

interface BackfillRange {
  readonly from: number;
  /** Exclusive. */
  readonly until: number;
}

interface Backfilled {
  readonly slots: number;
  readonly started: number;
  readonly repeated: number;
  readonly refused: number;
  /** null: the whole range is done. */
  readonly nextFrom: number | null;
}

/** The maximum number of slots per request: a schedule with seconds has 86,400 a day. */
const MOST_SLOTS = 500;

export class Backfill {
  private readonly deps: BackfillDeps;

  constructor(deps: BackfillDeps) {
    this.deps = deps;
  }

  async run(
    key: { readonly tenantId: string; readonly triggerId: string },
    range: BackfillRange,
    by: Actor = SYSTEM,
  ): Promise<Backfilled> {
    const trigger = await this.deps.store.triggerGet(key);
    if (trigger === null) throw triggerNotFound(key.triggerId);
    const schedule = scheduleOfTrigger(trigger);
    const wrong = rangeProblem(range, this.deps.wallClockMs());
    if (wrong !== null) throw requestInvalid([wrong]);
    await this.deps.admitCron?.(key.tenantId);
    const { slots, nextFrom } = slotsOf(schedule, range, MOST_SLOTS);
    const fired = await this.fire(trigger, slots);
    const counts = { slots: slots.length, ...countsOf(fired) };
    const { tenantId, triggerId } = key;
    const details = { from: isoTime(range.from), until: isoTime(range.until), ...counts };
    return this.deps.store.audited({
      tenantId,
      by,
      work: async () => ({ ...counts, nextFrom }),
      deed: () => ({ action: 'trigger.backfill', target: `trigger/${triggerId}`, details }),
    });
  }

  /** Oldest first, one after the other. Recorded in portions, so that a crash leaves records of the started ones. */
  private async fire(trigger: TriggerRecord, slots: readonly number[]): Promise<Fired[]> {
    const all: Fired[] = [];
    for (let from = 0; from < slots.length; from += PORTION) {
      const firings: NewFiring[] = [];
      for (const slot of slots.slice(from, from + PORTION)) {
        const request = { ...slotRequestOf(trigger, slot), ignoreDisabled: true };
        const fired = await fireTrigger(this.deps, trigger, request);
        all.push(fired);
        firings.push(firingOf(trigger, request, fired));
        if (!isRepetition(fired)) this.deps.observer.fired(trigger, fired);
      }
      await this.deps.store.firingAdd({ firings });
    }
    return all;
  }
}

const PORTION = 50;

/** The first slots of a range, up to the maximum, and the time where the rest begins. */
function slotsOf(
  schedule: Schedule,
  { from, until }: BackfillRange,
  most: number,
): { readonly slots: readonly number[]; readonly nextFrom: number | null } {
  const slots: number[] = [];
  for (let slot = schedule.next(from - 1); slot !== null && slot < until; slot = schedule.next(slot)) {
    if (slots.length === most) return { slots, nextFrom: slot };
    slots.push(slot);
  }
  return { slots, nextFrom: null };
}

function rangeProblem({ from, until }: BackfillRange, now: number) {
  if (until > now) return problem('/until', 'is in the future: slots are never fired early');
  if (from >= until) return problem('/from', 'must be before `until`');
  return null;
}

const problem = (path: string, message: string) => ({ code: 'CONFIG_INVALID', path, message });

function scheduleOfTrigger({ triggerType, config }: TriggerRecord): Schedule {
  if (triggerType !== 'Schedule') {
    throw requestInvalid([problem('', `a ${triggerType} trigger has no slots: only a schedule can be backfilled`)]);
  }
  const read = scheduleOf(JSON.parse(config) as Json);
  if (typeof read === 'string') throw requestInvalid([problem('', `the schedule cannot be used: ${read}`)]);
  return read.schedule;
}

function countsOf(fired: readonly Fired[]): Omit<Backfilled, 'slots' | 'nextFrom'> {
  const repeated = fired.filter(isRepetition).length;
  const started = fired.filter(({ outcome }) => outcome === 'started').length - repeated;
  return { started, repeated, refused: fired.length - started - repeated };
}

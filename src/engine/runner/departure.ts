// How the life of a runner ends in good order (I23): it lets its attempts finish, commits what they came to, and gives
// everything back. What takes longer than `drainMs` is told to stop, and is given back when it has stopped: the next owner
// runs the attempt again, under the same key (I7).
//
// An attempt that does not stop may still have its effect, and a result that could not be written had its effect already. Such
// an execution is not given back, or two runners would be at the same attempt with nobody declared dead (I4): it stays this
// runner's until the lease ends by itself, as if the process had died, and by then it has.

import type { RunnerRegistration, Store } from '../../store/port.ts';
import type { EngineObserver, EngineOptions, Timers } from '../environment.ts';
import type { Resident } from '../turn/resident.ts';
import type { SlotMap } from './slot-map.ts';

export interface DepartureDeps {
  readonly store: Store;
  readonly timers: Timers;
  readonly observer: EngineObserver;
  readonly options: Pick<EngineOptions, 'name' | 'drainMs' | 'abortGraceMs'>;
  readonly registration: RunnerRegistration;
  readonly residents: SlotMap<Resident>;
  readonly isOver: () => boolean;
  /** Forgets everything in memory; from now on nothing is written. */
  readonly abandon: () => void;
  readonly runInSlotZero: <T>(work: () => Promise<T>) => Promise<T>;
}

const LOOK_EVERY_MS = 20;
/** The attempts it names run again elsewhere, if they did not finish after all. */
export const TOLD_TO_STOP = 'attempts were told to stop because the runner stops';

export async function depart(deps: DepartureDeps): Promise<void> {
  const { store, options, observer, registration, isOver } = deps;
  await untilQuiet(deps, options.drainMs);
  tellToStop(deps);
  await untilQuiet(deps, options.abortGraceMs);
  if (isOver()) return;
  const busy = new Set(atWork(deps).map(({ execution }) => execution.executionId));
  deps.abandon();
  try {
    if (busy.size === 0) await store.runnerStop({ runnerId: registration.runnerId });
    else await giveBackAllBut(deps, busy);
  } catch (error) {
    observer.warn('could not sign off; the lease will end by itself', { error: String(error) });
  }
}

/** Attempts are running, or what they did is on its way to the database. */
function atWork({ residents }: DepartureDeps): Resident[] {
  return [...residents.values()].filter(({ busy, running }) => busy || running.size > 0);
}

async function untilQuiet(deps: DepartureDeps, forMs: number): Promise<void> {
  const { timers, isOver } = deps;
  const giveUpAt = timers.monotonicMs() + forMs;
  while (atWork(deps).length > 0 && timers.monotonicMs() < giveUpAt && !isOver()) {
    await new Promise<void>((resolve) => {
      timers.after(LOOK_EVERY_MS, resolve);
    });
  }
}

function tellToStop(deps: DepartureDeps): void {
  const { observer, options } = deps;
  const told: string[] = [];
  for (const { execution, state, running } of atWork(deps)) {
    for (const [node, { attempt, stop }] of running) {
      told.push(`${execution.executionId}:${state.plan.nodes[node]!.id}:${attempt}`);
      stop.abort(new Error('The runner stops'));
    }
  }
  if (told.length === 0) return;
  const { name, drainMs } = options;
  observer.warn(TOLD_TO_STOP, { name, drainMs, attempts: told });
}

async function giveBackAllBut(deps: DepartureDeps, busy: ReadonlySet<string>): Promise<void> {
  const { store, observer, options, registration } = deps;
  const { runnerId, slotIds } = registration;
  const { name, drainMs } = options;
  const executionIds = [...busy];
  observer.warn('stopped before its work was done: it is done again when the lease has ended', {
    name,
    drainMs,
    count: busy.size,
    executionIds: executionIds.slice(0, 20),
  });
  await deps.runInSlotZero(async () => {
    const owned = await store.executionListOwned({ runnerId });
    const items = owned.filter(({ executionId }) => !busy.has(executionId));
    if (items.length > 0) await store.executionRelease({ slotId: slotIds[0]!, items });
  });
}

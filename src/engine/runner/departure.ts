// A runner's orderly end (I23). It gives back every execution without a running attempt at once, and others go on with them: a
// slow attempt delays only its own execution. It lets attempts finish, commits their results, and gives back each execution when
// its last attempt has ended. Attempts that take longer than `drainMs` are aborted, and their executions given back; the next
// owner runs the attempt again under the same key (I7).
//
// An attempt that does not stop may still have its effect, and a result that could not be written has had its effect already.
// Such an execution is not given back, or two runners would work on the same attempt with nobody declared dead (I4). It stays
// with this runner until the lease expires, as if the process had died; by then it has.

import type { Timers } from '../../clock/timers.ts';
import { idOf } from '../../core/decider/frame.ts';
import type { LoadedExecution, Store } from '../../store/port.ts';
import type { RunnerRegistration } from '../../store/runner-port.ts';
import type { EngineObserver, EngineOptions } from '../environment.ts';
import type { Resident } from '../turn/resident.ts';
import type { Residents } from '../turn/residents.ts';

export interface DepartureDeps {
  readonly store: Store;
  readonly timers: Timers;
  readonly observer: EngineObserver;
  readonly options: Pick<EngineOptions, 'name' | 'drainMs' | 'abortGraceMs'>;
  readonly registration: RunnerRegistration;
  readonly residents: Residents;
  readonly isOver: () => boolean;
  /** Another runner owns the execution from now on. */
  readonly forget: (resident: Resident) => void;
  /** Executions became ready that other runners can take. */
  readonly released: (executions: readonly LoadedExecution[]) => void;
  /** Forgets everything in memory. Nothing is written from now on. */
  readonly abandon: () => void;
  readonly runInSlotZero: <T>(work: () => Promise<T>) => Promise<T>;
}

const LOOK_EVERY_MS = 20;
/** The named attempts run again elsewhere, unless they finish after all. */
export const TOLD_TO_STOP = 'attempts were told to stop because the runner stops';

export async function depart(deps: DepartureDeps): Promise<void> {
  const { store, options, observer, registration, isOver } = deps;
  const leaving = new Set<Resident>();
  await untilQuiet(deps, leaving, options.drainMs);
  tellToStop(deps);
  await untilQuiet(deps, leaving, options.abortGraceMs);
  if (isOver()) return;
  const busy = new Set(atWork(deps, leaving).map(({ execution }) => execution.executionId));
  deps.abandon();
  try {
    if (busy.size > 0) await giveBackAllBut(deps, busy);
    else await store.runnerStop({ runnerId: registration.runnerId });
  } catch (error) {
    observer.warn('could not sign off; the lease will end by itself', { error: String(error) });
  }
}

/** Residents with running attempts, or with results on their way to the database. */
function atWork({ residents }: DepartureDeps, leaving: ReadonlySet<Resident>): Resident[] {
  return [...residents.values()].filter(
    (resident) => !leaving.has(resident) && (resident.isBusy || resident.running.size > 0),
  );
}

async function untilQuiet(deps: DepartureDeps, leaving: Set<Resident>, forMs: number): Promise<void> {
  const { timers, isOver } = deps;
  const giveUpAt = timers.monotonicMs() + forMs;
  for (;;) {
    await giveBackIdle(deps, leaving);
    if (atWork(deps, leaving).length === 0 || timers.monotonicMs() >= giveUpAt || isOver()) return;
    await new Promise<void>((resolve) => {
      timers.after(LOOK_EVERY_MS, resolve);
    });
  }
}

/**
 * Gives back all residents without running attempts. Nothing about them is decided from here on, so the statement may be
 * repeated when its reply is lost: it only takes executions that this runner still owns by the same claim (I5).
 */
async function giveBackIdle(deps: DepartureDeps, leaving: Set<Resident>): Promise<void> {
  const { store, residents, registration, observer, isOver, forget, released } = deps;
  const before = leaving.size;
  for (const resident of residents.values()) {
    if (resident.isBusy || resident.running.size > 0 || resident.queue.length > 0) continue;
    resident.occupy();
    leaving.add(resident);
  }
  if (leaving.size === 0 || isOver()) return;
  const going = [...leaving];
  const items = going.map(({ execution, epoch }) => ({ executionId: execution.executionId, epoch }));
  try {
    await deps.runInSlotZero(() => store.executionRelease({ slotId: registration.slotIds[0]!, items }));
  } catch (error) {
    if (leaving.size > before) {
      observer.warn('executions could not be given back yet', { count: items.length, error: String(error) });
    }
    return;
  }
  for (const resident of going) {
    leaving.delete(resident);
    forget(resident);
  }
  released(going.map(({ execution }) => execution));
}

function tellToStop(deps: DepartureDeps): void {
  const { observer, options } = deps;
  const told: string[] = [];
  for (const { execution, state, running } of deps.residents.values()) {
    for (const [node, { attempt, stop }] of running) {
      told.push(`${execution.executionId}:${idOf(state, node)}:${attempt}`);
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

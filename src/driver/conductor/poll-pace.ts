// How often the workers of one process poll Conductor. With work they poll often; idle workers of a process send at most five
// requests a second together, however many servers and task queues they serve. Pure.

/** Turns begin everything. Attempts and noops follow a turn, and whoever answered that turn polls for them at once. */
export type PollKind = 'turn' | 'step';

/** The number of polling loops of this process, by kind. */
export type PollLoops = Readonly<Record<PollKind, number>>;

export const MOST_IDLE_POLLS_PER_S = 5;
export const BUSY_POLL_MS = 20;
const SLOWER = 1.5;

/** Requests per second that all loops of a kind share. */
function shareOf(kind: PollKind, loops: PollLoops): number {
  if (loops.turn === 0 || loops.step === 0) return MOST_IDLE_POLLS_PER_S;
  return kind === 'turn' ? MOST_IDLE_POLLS_PER_S - 1 : 1;
}

/** The longest pause of one loop, used when it is idle. */
export function idlePollMs(kind: PollKind, loops: PollLoops): number {
  return Math.ceil((1_000 * Math.max(1, loops[kind])) / shareOf(kind, loops));
}

/** The pause after a poll that found this many tasks. */
export function nextPollMs(lastMs: number, found: number, kind: PollKind, loops: PollLoops): number {
  return found > 0 ? BUSY_POLL_MS : Math.min(lastMs * SLOWER, idlePollMs(kind, loops));
}

// How often the workers of one process ask Conductor for tasks. While there is work they ask often; idle workers of a process make at most
// five requests a second together, whatever number of instances and task queues they serve. Pure.

/** Turns begin everything; attempts and noops follow a turn, and whoever answered that turn asks for them at once. */
export type PollKind = 'turn' | 'step';

/** How many loops of this process ask for each kind. */
export type PollLoops = Readonly<Record<PollKind, number>>;

export const MOST_IDLE_POLLS_PER_S = 5;
export const BUSY_POLL_MS = 20;
const SLOWER = 1.5;

/** Requests a second that all loops of a kind share. */
function shareOf(kind: PollKind, loops: PollLoops): number {
  if (loops.turn === 0 || loops.step === 0) return MOST_IDLE_POLLS_PER_S;
  return kind === 'turn' ? MOST_IDLE_POLLS_PER_S - 1 : 1;
}

/** The longest pause of one loop, which is the pause of an idle loop. */
export function idlePollMs(kind: PollKind, loops: PollLoops): number {
  return Math.ceil((1_000 * Math.max(1, loops[kind])) / shareOf(kind, loops));
}

/** The pause after a poll that found this many tasks. */
export function nextPollMs(lastMs: number, found: number, kind: PollKind, loops: PollLoops): number {
  return found > 0 ? BUSY_POLL_MS : Math.min(lastMs * SLOWER, idlePollMs(kind, loops));
}

// Between what this process accepts and its runner, if it has one: hands executions over that the runner may take as its own,
// and hints to it if it can use them, to the other processes otherwise. A hint that is lost
// costs a poll interval and nothing else (I11).

import type { Runner } from '../engine/runner/runner.ts';
import type { Adopt } from '../execution/start/starter.ts';
import { type Hint, type HintedLane, type Hints, hintedLanes } from '../store/hint-port.ts';

import type { Messaging } from './messaging.ts';

export type Switchboard = ReturnType<typeof createSwitchboard>;

export function createSwitchboard() {
  const board = {
    runner: null as Runner | null,
    hints: null as Hints | null,
    /** Those here who take attempts of task queues. */
    workers: [] as { hint(taskQueues: readonly string[]): void }[],
    messaging: null as Pick<Messaging, 'dispatcher' | 'notices'> | null,
    receive(hint: Hint): void {
      if (hint.kind === 'work') board.runner?.hint(hint.lanes);
      else if (hint.kind === 'mail') board.runner?.mailHint(hint.executionId);
      else if (hint.kind === 'attempts') for (const worker of board.workers) worker.hint(hint.taskQueues);
      else if (hint.kind === 'deliveries') board.messaging?.dispatcher.wakeHere(hint.consumerIds);
      else void board.messaging?.notices.heard(hint.noticeIds);
    },
    adopt: ((items) => board.runner?.adopt(items) ?? null) as Adopt,
    holds: (executionId: string): boolean => board.runner?.holds(executionId) ?? false,
    tell(hint: Hint): void {
      const { runner } = board;
      // Everybody hears of attempts by the notification, this process too.
      if (hint.kind !== 'work' && hint.kind !== 'mail') return board.hints?.send(hint);
      const isOurs =
        runner !== null && (hint.kind === 'work' ? runner.hasRoom(hint.lanes) : runner.holds(hint.executionId));
      if (isOurs) return board.receive(hint);
      board.hints?.send(hint);
      // It may have been parked, and be ready now: then no runner holds it, and any may take it.
      if (hint.kind === 'mail') board.tell({ kind: 'work' });
    },
    /** For the other processes: this one has given up what it could have run. */
    released(executions: readonly Pick<HintedLane, 'tenantId' | 'priority'>[]): void {
      board.hints?.send({ kind: 'work', lanes: hintedLanes(executions) });
    },
  };
  return board;
}

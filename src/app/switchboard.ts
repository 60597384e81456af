// Connects what this process accepts with its runner. Executions go to the own runner if it has room, otherwise other processes
// get a hint. A lost hint costs one poll interval and nothing else (I11).

import type { Runner } from '../engine/runner/runner.ts';
import type { Adopt } from '../execution/start/starter.ts';
import { type Hint, type HintedLane, type Hints, hintedLanes } from '../store/hint-port.ts';
import { asProgram } from '../store/tenant-scope.ts';

import type { Messaging } from './messaging.ts';

export type Switchboard = ReturnType<typeof createSwitchboard>;

export function createSwitchboard() {
  const board = {
    runner: null as Runner | null,
    hints: null as Hints | null,
    /** Workers of task queues in this process. */
    workers: [] as { hint(taskQueues: readonly string[]): void }[],
    messaging: null as Pick<Messaging, 'dispatcher' | 'notices'> | null,
    receive: (hint: Hint): void => asProgram(() => board.pass(hint)),
    pass(hint: Hint): void {
      if (hint.kind === 'work') board.runner?.hint(hint.lanes);
      else if (hint.kind === 'mail') board.runner?.mailHint(hint.executionId);
      else if (hint.kind === 'attempts') for (const worker of board.workers) worker.hint(hint.taskQueues);
      else if (hint.kind === 'deliveries') board.messaging?.dispatcher.wakeHere(hint.consumerIds);
      else void board.messaging?.notices.heard(hint.noticeIds);
    },
    adopt: ((items) => asProgram(() => board.runner?.adopt(items) ?? null)) as Adopt,
    holds: (executionId: string): boolean => board.runner?.holds(executionId) ?? false,
    placeWait: (tenantId: string, executionId: string) => board.runner?.placeWait(tenantId, executionId) ?? null,
    tell(hint: Hint): void {
      const { runner } = board;
      // Attempts are announced by notification to all processes, this one included.
      if (hint.kind !== 'work' && hint.kind !== 'mail') return board.hints?.send(hint);
      const isOurs =
        runner !== null && (hint.kind === 'work' ? runner.hasRoom(hint.lanes) : runner.holds(hint.executionId));
      if (isOurs) return board.receive(hint);
      board.hints?.send(hint);
      // The execution may have been parked and be ready now: then any runner may take it.
      if (hint.kind === 'mail') board.tell({ kind: 'work' });
    },
    /** For other processes: this one has given up executions it could have run. */
    released(executions: readonly Pick<HintedLane, 'tenantId' | 'priority'>[]): void {
      board.hints?.send({ kind: 'work', lanes: hintedLanes(executions) });
    },
  };
  return board;
}

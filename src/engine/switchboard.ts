// Hands hints on: to the runner of this process if it can use them, and to the other processes otherwise. A hint that is lost
// costs a poll interval and nothing else (I11).

import type { Hint, Hints } from '../store/hint-port.ts';
import type { Runner } from './runner.ts';

export function createSwitchboard() {
  const board = {
    runner: null as Runner | null,
    hints: null as Hints | null,
    receive(hint: Hint): void {
      if (hint.kind === 'work') board.runner?.hint(hint.lanes);
      else board.runner?.mailHint(hint.executionId);
    },
    tell(hint: Hint): void {
      const { runner } = board;
      const isOurs = runner !== null && (hint.kind === 'work' ? runner.hasRoom() : runner.holds(hint.executionId));
      if (isOurs) board.receive(hint);
      else board.hints?.send(hint);
    },
  };
  return board;
}

// Between what this process accepts and its runner, if it has one: hands executions over that the runner may take as its own,
// and hints to it if it can use them, to the other processes otherwise. A hint that is lost
// costs a poll interval and nothing else (I11).

import type { Hint, Hints } from '../../store/hint-port.ts';
import type { Adopt } from '../start/starter.ts';
import type { Runner } from './runner.ts';

export type Switchboard = ReturnType<typeof createSwitchboard>;

export function createSwitchboard() {
  const board = {
    runner: null as Runner | null,
    hints: null as Hints | null,
    receive(hint: Hint): void {
      if (hint.kind === 'work') board.runner?.hint(hint.lanes);
      else board.runner?.mailHint(hint.executionId);
    },
    adopt: ((items) => board.runner?.adopt(items) ?? null) as Adopt,
    tell(hint: Hint): void {
      const { runner } = board;
      const isOurs = runner !== null && (hint.kind === 'work' ? runner.hasRoom() : runner.holds(hint.executionId));
      if (isOurs) board.receive(hint);
      else board.hints?.send(hint);
    },
  };
  return board;
}

// Every statement that writes the queue could hand an execution of another engine to a native runner. Each has a case in the
// contract (src/store/contract/external.testing.ts), or a reason why it cannot meet such a row. A new statement needs one too.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { STATEMENTS } from '../statement.ts';

const OWNED = 'a runner commits only what it has claimed, and it never claims a row of another engine';

/** Titles of the cases. */
const CASES: Readonly<Record<string, string>> = {
  external_start: 'is not claimed when it is started',
  execution_claim: 'is not claimed when it is started',
  execution_start: 'is not owned by the runner of the process that starts it',
  inbox_send: 'is not claimed for mail of kind',
  inbox_send_many: 'is not claimed for callbacks that come together',
  queue_wake: 'is not claimed when something is due',
  queue_wake_mail: 'goes back to its engine when a retry came just before its end',
  park_check: 'is not claimed for mail of kind',
  execution_park: 'is not touched by a runner that parks, releases, stops or dies',
  execution_release: 'is not touched by a runner that parks, releases, stops or dies',
  runner_release: 'is not touched by a runner that parks, releases, stops or dies',
  execution_reopen: 'goes back to its engine when it is reopened, as another run',
  external_commit: 'is not claimed as a child of what another engine runs',
  external_give_up: 'is given up on at its epoch, with a dead letter and news for its parent',
  external_again: 'is not claimed when its run is given a new epoch',
  dead_letter_add: 'is not buried, nor marked as undoing, by a runner',
  execution_undoing: 'is not buried, nor marked as undoing, by a runner',
};
const REASONS: Readonly<Record<string, string>> = {
  execution_commit: OWNED,
  execution_commit_plain: OWNED,
  execution_start_held: 'starts on the native engine alone; what another engine runs is held back by external_start',
  attempt_queue_complete:
    'attempts of other engines are never in this queue, and of the rows it wakes only parked ones',
};

it('every statement that writes the queue has a test case for rows of other engines, or a reason', () => {
  const writers = [...STATEMENTS].flatMap(([name, { text }]) =>
    /(insert into|update|delete from) execution_queue\b/.test(text) ? [name] : [],
  );
  expect(writers.toSorted()).toEqual([...Object.keys(CASES), ...Object.keys(REASONS)].toSorted());
  const contract = readFileSync(new URL('../../contract/external.testing.ts', import.meta.url), 'utf8');
  for (const title of Object.values(CASES)) expect(contract).toContain(title);
});

import { describe, expect, it } from 'vitest';
import { handTimers, settled } from '../../clock/hand-timers.testing.ts';
import type { LifecycleBatch } from '../../store/lifecycle-port.ts';
import { StoreError, type StoreFailure } from '../../store/store-error.ts';
import { MoveCommitter, type MoveItem } from './move-committer.ts';

interface Sent {
  readonly refs: string[];
  readonly generation: string;
  apply(...refs: string[]): Promise<void>;
  outdated(): Promise<void>;
  fail(failure: StoreFailure): Promise<void>;
}

function setup() {
  const sent: Sent[] = [];
  const told: string[] = [];
  const lifecycleApply = (batch: LifecycleBatch) =>
    new Promise<{ current: boolean; applied: string[]; at: number }>((resolve, reject) => {
      const refs = batch.moves.map(({ instanceId }) => instanceId);
      const { generation } = batch;
      sent.push({
        refs,
        generation,
        apply: (...applied) => then(() => resolve({ current: true, applied, at: 5 })),
        outdated: () => then(() => resolve({ current: false, applied: [], at: 5 })),
        fail: (failure) => then(() => reject(new StoreError(failure, failure))),
      });
    });
  const committer = new MoveCommitter({ store: { lifecycleApply }, timers: handTimers(), observe: () => undefined });
  const submit = async (...items: MoveItem[]) => {
    for (const item of items) {
      committer.submit(item).then(
        (outcome) => told.push(`${item.move.instanceId} ${outcome}`),
        (error: Error) => told.push(`${item.move.instanceId} refused: ${error.message}`),
      );
    }
    await settled();
  };
  return { sent, told, submit };
}

async function then(work: () => void): Promise<void> {
  work();
  await settled();
}

function item(instanceId: string, { generation = 'g1', bytes = 10 } = {}): MoveItem {
  const key = { tenantId: 't', env: 'e', definition: 'd', externalRef: instanceId };
  const states = { event: 'go', fromState: 'a', toState: 'b', at: 1, stateSince: 1, timeoutsFired: 0, dueAt: null };
  const why = { requestId: 'r', actor: null, payload: null, cause: '{}' };
  const move = { ...key, instanceId, version: 1, revision: 1, ...states, ...why };
  return { generation, move, bytes, messages: [], deliveries: [], reactionsSettled: [] };
}

describe('moves in one statement', () => {
  it('each move in a shared statement gets its own outcome', async () => {
    const { sent, told, submit } = setup();
    await submit(item('a'), item('b'));
    expect(sent.map(({ refs }) => refs)).toEqual([['a', 'b']]);
    await sent[0]!.apply('b');
    expect(told).toEqual(['a overtaken', 'b applied']);
  });

  it('moves decided with different generations do not share a statement', async () => {
    const { sent, submit } = setup();
    await submit(item('a'), item('b', { generation: 'g2' }));
    expect(sent.map(({ generation, refs }) => [generation, refs])).toEqual([
      ['g1', ['a']],
      ['g2', ['b']],
    ]);
  });

  it('a statement is limited in size, and at most three run at a time while the rest waits', async () => {
    const { sent, submit } = setup();
    const big = { bytes: 900_000 };
    await submit(item('a', big), item('b', big), item('c', big), item('d', big), item('e'));
    expect(sent.map(({ refs }) => refs)).toEqual([['a'], ['b'], ['c']]);
    await sent[1]!.apply('b');
    expect(sent[3]?.refs).toEqual(['d', 'e']);
  });
});

describe('a statement of moves that fails', () => {
  it('an outdated generation writes nothing, and all moves must be decided again', async () => {
    const { sent, told, submit } = setup();
    await submit(item('a'), item('b'));
    await sent[0]!.outdated();
    expect(told).toEqual(['a outdated', 'b outdated']);
  });

  it('a lost reply gives the outcome unknown', async () => {
    const { sent, told, submit } = setup();
    await submit(item('a'));
    await sent[0]!.fail('unknown');
    expect(told).toEqual(['a unknown']);
  });

  it('bad data is found by halving, and the other moves are applied', async () => {
    const { sent, told, submit } = setup();
    await submit(item('a'), item('bad'));
    await sent[0]!.fail('data');
    await sent[1]!.apply('a');
    await sent[2]!.fail('data');
    expect(told).toEqual(['a applied', 'bad refused: the request holds a value that cannot be stored']);
  });
});

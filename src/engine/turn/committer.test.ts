import { describe, expect, it } from 'vitest';
import { handTimers, settled } from '../../clock/hand-timers.testing.ts';
import type { CommitBatch } from '../../store/port.ts';
import { StoreError, type StoreFailure } from '../../store/store-error.ts';
import { recordingObserver } from '../recording-observer.testing.ts';
import { type CommitItem, Committer } from './committer.ts';

type Reply = 'applied' | 'fenced' | StoreFailure;

/** A commit function that answers as the test says, or waits. */
function setup({ slots = 1 }: { slots?: number } = {}) {
  const timers = handTimers();
  const observer = recordingObserver();
  const sent: { batch: CommitBatch; ids: string[]; reply: (reply: Reply) => Promise<void> }[] = [];
  const told: string[] = [];
  const fence = { lost: 0 };
  /** What the journal contains after an unknown outcome. */
  const journal = { isOurs: true };
  const committer = new Committer({
    commit: (batch) =>
      new Promise((resolve, reject) => {
        const reply = async (how: Reply) => {
          if (how === 'applied') resolve({ applied: true, at: 77 });
          else if (how === 'fenced') resolve({ applied: false, at: 77 });
          else reject(new StoreError(how, how));
          await settled();
        };
        sent.push({ batch, ids: batch.events.map(({ executionId }) => executionId), reply });
      }),
    slotIds: Array.from({ length: slots }, (_, slot) => `slot-${slot + 1}`),
    timers,
    observer,
    isWritten: async () => journal.isOurs,
    settled: () => {},
    fenceLost: () => {
      fence.lost++;
    },
  });
  const submit = async (...ids: string[]) => {
    for (const id of ids) committer.submit(item(id, told));
    await settled();
  };
  return { committer, timers, observer, sent, told, fence, journal, submit };
}

function item(executionId: string, told: string[] = [], bytes = 10): CommitItem {
  const rows = {
    executionId,
    bytes,
    events: [{ executionId, seq: 0, at: 1, facts: '[]', inputs: null }],
    attempts: [],
    outcomes: [],
    ended: [],
    children: [],
    consumed: [],
    sent: [],
    links: [],
    logs: [],
  };
  return {
    rows,
    committed: (at) => told.push(`${executionId} committed at ${at}`),
    refused: ({ message }) => told.push(`${executionId} refused: ${message}`),
    overtaken: () => told.push(`${executionId} overtaken`),
  };
}

describe('I22: an item of many bytes', () => {
  const LARGE = 2 * 1024 * 1024;

  it('goes alone, and leaves a slot to the others', async () => {
    const { committer, sent, told, submit } = setup({ slots: 2 });
    for (const id of ['big-1', 'big-2', 'big-3']) committer.submit(item(id, told, LARGE));
    await submit('a');
    expect(sent.map(({ ids }) => ids)).toEqual([['big-1'], ['a']]);
    await sent[1]!.reply('applied');
    await submit('b', 'c');
    expect(sent.map(({ ids }) => ids)).toEqual([['big-1'], ['a'], ['b', 'c']]);
    await sent[0]!.reply('applied');
    expect(sent.at(-1)!.ids).toEqual(['big-2']);
    expect(told).toEqual(['a committed at 77', 'big-1 committed at 77']);
  });

  it('takes turns with the others where there is one slot', async () => {
    const { committer, sent, submit } = setup();
    for (const id of ['big-1', 'big-2']) committer.submit(item(id, [], LARGE));
    await submit('a');
    await sent[0]!.reply('applied');
    await sent[1]!.reply('applied');
    expect(sent.map(({ ids }) => ids)).toEqual([['big-1'], ['a'], ['big-2']]);
  });
});

describe('a batch', () => {
  it('is everything that came in one turn, and nobody is told before it is durable', async () => {
    const { sent, told, submit } = setup();
    await submit('a', 'b', 'c');
    expect(sent.map(({ ids }) => ids)).toEqual([['a', 'b', 'c']]);
    expect(told).toEqual([]);
    await sent[0]!.reply('applied');
    expect(told).toEqual(['a committed at 77', 'b committed at 77', 'c committed at 77']);
  });

  it('collects what comes while others are on their way', async () => {
    const { sent, submit } = setup({ slots: 2 });
    await submit('a');
    await submit('b');
    await submit('c', 'd');
    expect(sent.map(({ ids }) => ids)).toEqual([['a']]);
    await sent[0]!.reply('applied');
    expect(sent[1]!.ids).toEqual(['b', 'c', 'd']);
  });

  it('goes beside another when it is full', async () => {
    const { sent, submit } = setup({ slots: 3 });
    await submit('a');
    for (let index = 0; index < 255; index++) await submit(`e${index}`);
    expect(sent).toHaveLength(1);
    await submit('e255');
    expect(sent.map(({ ids, batch }) => [batch.slotId, ids.length])).toEqual([
      ['slot-1', 1],
      ['slot-2', 256],
    ]);
  });

  it('does not wait for ever for one that takes its time, nor once more for the next', async () => {
    const { sent, submit, timers } = setup({ slots: 2 });
    await submit('a');
    await submit('b');
    timers.advance(9);
    expect(sent).toHaveLength(1);
    timers.advance(1);
    expect(sent.map(({ ids, batch }) => [batch.slotId, ids])).toEqual([
      ['slot-1', ['a']],
      ['slot-2', ['b']],
    ]);
    await submit('c');
    await sent[1]!.reply('applied');
    timers.advance(10);
    expect(sent[2]).toMatchObject({ batch: { slotId: 'slot-2' }, ids: ['c'] });
  });

  it('waits for nobody once the runner is dead', async () => {
    const { committer, sent, submit, timers } = setup({ slots: 2 });
    await submit('a');
    await submit('b');
    committer.abandon();
    timers.advance(1_000);
    expect(sent).toHaveLength(1);
  });

  it('has at most 256 items', async () => {
    const { sent, submit } = setup({ slots: 10 });
    await submit(...Array.from({ length: 256 * 2 + 1 }, (_, n) => `e${n}`));
    expect(sent.map(({ ids }) => ids.length)).toEqual([256, 256]);
  });

  it('has at most a megabyte unless one item alone is larger', async () => {
    const { committer, sent } = setup({ slots: 10 });
    const megabyte = 1024 * 1024;
    const sizes = [megabyte / 2, megabyte / 2 + 1, megabyte * 3, megabyte / 2, megabyte / 2];
    for (const bytes of sizes) committer.submit(item(`${bytes}`, [], bytes));
    await settled();
    expect(sent.map(({ ids }) => ids.length)).toEqual([1, 1, 1, 2]);
  });
});

it('sends a full batch at once, not at the end of the turn in which it became full', async () => {
  const { committer, sent } = setup({ slots: 2 });
  for (let index = 0; index < 300; index++) committer.submit(item(`e${index}`));
  expect(sent.map(({ ids }) => ids.length)).toEqual([256]);
  await settled();
  await sent[0]!.reply('applied');
  expect(sent.map(({ ids }) => ids.length)).toEqual([256, 44]);
});

describe('a commit whose outcome is unknown', () => {
  it('is sent again, identical and on the same slot, until the answer comes', async () => {
    const { sent, told, timers, submit, observer } = setup({ slots: 2 });
    await submit('a', 'b');
    await sent[0]!.reply('unknown');
    timers.advance(1_000);
    await settled();
    await sent[1]!.reply('unknown');
    timers.advance(1_000);
    await settled();
    expect(sent.map(({ batch }) => batch)).toEqual([sent[0]!.batch, sent[0]!.batch, sent[0]!.batch]);
    expect(told).toEqual([]);
    await sent[2]!.reply('applied');
    expect(told).toEqual(['a committed at 77', 'b committed at 77']);
    expect(observer.counts.get('unknownCommitsResent')).toBe(2);
  });

  it('had been applied if the journal has it already; the reply was lost, and with it the time', async () => {
    const { sent, told, timers, submit } = setup();
    await submit('a');
    await sent[0]!.reply('unknown');
    timers.advance(1_000);
    await settled();
    await sent[1]!.reply('alreadyApplied');
    expect(told).toEqual(['a committed at 0']);
  });

  it('keeps its slot: what comes later waits or takes another', async () => {
    const { sent, timers, submit } = setup();
    await submit('a');
    await sent[0]!.reply('unknown');
    await submit('b');
    timers.advance(1_000);
    await settled();
    expect(sent.map(({ ids }) => ids)).toEqual([['a'], ['a']]);
  });
});

describe('a commit that fails', () => {
  it('for a passing reason is sent again', async () => {
    const { sent, told, timers, submit } = setup();
    await submit('a');
    await sent[0]!.reply('retry');
    timers.advance(1_000);
    await settled();
    await sent[1]!.reply('applied');
    expect(told).toEqual(['a committed at 77']);
  });

  it('by its data is halved until the culprit stands alone', async () => {
    const { sent, told, submit, observer } = setup();
    await submit('a', 'bad', 'c', 'd');
    for (let index = 0; index < sent.length; index++) {
      await sent[index]!.reply(sent[index]!.ids.includes('bad') ? 'data' : 'applied');
    }
    expect(sent.map(({ ids }) => ids)).toEqual([['a', 'bad', 'c', 'd'], ['a', 'bad'], ['a'], ['bad'], ['c', 'd']]);
    expect(told.toSorted()).toEqual([
      'a committed at 77',
      'bad refused: data',
      'c committed at 77',
      'd committed at 77',
    ]);
    expect(observer.counts.get('poisonIsolated')).toBe(1);
  });

  it('on a journal key that nobody here had sent means that somebody else has the execution now', async () => {
    const { sent, told, submit } = setup();
    await submit('a', 'b');
    await sent[0]!.reply('alreadyApplied');
    await sent[1]!.reply('alreadyApplied');
    await sent[2]!.reply('applied');
    expect(told).toEqual(['a overtaken', 'b committed at 77']);
  });
});

describe('an unknown outcome that meets a journal key', () => {
  it('is bisected when the row there is not ours: the others were never written', async () => {
    const { sent, told, journal, submit, timers } = setup();
    journal.isOurs = false;
    await submit('a', 'b');
    await sent[0]!.reply('unknown');
    await timers.advance(1_000);
    await sent[1]!.reply('alreadyApplied');
    await sent[2]!.reply('alreadyApplied');
    await sent[3]!.reply('applied');
    expect(told).toEqual(['a overtaken', 'b committed at 77']);
  });
});

describe('a dead fence', () => {
  it('means that nothing was applied: nobody is told, and the loss is reported', async () => {
    const { sent, told, fence, submit, observer } = setup();
    await submit('a', 'b');
    await sent[0]!.reply('fenced');
    expect(told).toEqual([]);
    expect(fence.lost).toBe(1);
    expect(observer.counts.get('zombieWritesRejected')).toBe(2);
  });

  it('ends everything: what is pending is forgotten, what is in flight is not listened to', async () => {
    const { committer, sent, told, submit } = setup();
    await submit('a');
    await submit('b');
    committer.abandon();
    await sent[0]!.reply('applied');
    expect(told).toEqual([]);
    expect(sent).toHaveLength(1);
  });
});

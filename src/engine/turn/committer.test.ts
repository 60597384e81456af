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

  it('I22: a large item is sent alone, and leaves a slot to the others', async () => {
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

  it('I22: a large item takes turns with the others when there is one slot', async () => {
    const { committer, sent, submit } = setup();
    for (const id of ['big-1', 'big-2']) committer.submit(item(id, [], LARGE));
    await submit('a');
    await sent[0]!.reply('applied');
    await sent[1]!.reply('applied');
    expect(sent.map(({ ids }) => ids)).toEqual([['big-1'], ['a'], ['big-2']]);
  });
});

describe('a batch', () => {
  it('a batch holds everything of one turn, and items are answered only when it is durable', async () => {
    const { sent, told, submit } = setup();
    await submit('a', 'b', 'c');
    expect(sent.map(({ ids }) => ids)).toEqual([['a', 'b', 'c']]);
    expect(told).toEqual([]);
    await sent[0]!.reply('applied');
    expect(told).toEqual(['a committed at 77', 'b committed at 77', 'c committed at 77']);
  });

  it('items that arrive while a batch is in flight go together in the next batch', async () => {
    const { sent, submit } = setup({ slots: 2 });
    await submit('a');
    await submit('b');
    await submit('c', 'd');
    expect(sent.map(({ ids }) => ids)).toEqual([['a']]);
    await sent[0]!.reply('applied');
    expect(sent[1]!.ids).toEqual(['b', 'c', 'd']);
  });

  it('a full batch is sent beside another one', async () => {
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

  it('a batch waits at most 10 ms for a slow one before it, and the next batch waits no longer', async () => {
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

  it('no batch is sent after the runner is dead', async () => {
    const { committer, sent, submit, timers } = setup({ slots: 2 });
    await submit('a');
    await submit('b');
    committer.abandon();
    timers.advance(1_000);
    expect(sent).toHaveLength(1);
  });

  it('a batch has at most 256 items', async () => {
    const { sent, submit } = setup({ slots: 10 });
    await submit(...Array.from({ length: 256 * 2 + 1 }, (_, n) => `e${n}`));
    expect(sent.map(({ ids }) => ids.length)).toEqual([256, 256]);
  });

  it('a batch has at most a megabyte, unless a single item is larger', async () => {
    const { committer, sent } = setup({ slots: 10 });
    const megabyte = 1024 * 1024;
    const sizes = [megabyte / 2, megabyte / 2 + 1, megabyte * 3, megabyte / 2, megabyte / 2];
    for (const bytes of sizes) committer.submit(item(`${bytes}`, [], bytes));
    await settled();
    expect(sent.map(({ ids }) => ids.length)).toEqual([1, 1, 1, 2]);
  });
});

it('a full batch is sent at once, not at the end of its turn', async () => {
  const { committer, sent } = setup({ slots: 2 });
  for (let index = 0; index < 300; index++) committer.submit(item(`e${index}`));
  expect(sent.map(({ ids }) => ids.length)).toEqual([256]);
  await settled();
  await sent[0]!.reply('applied');
  expect(sent.map(({ ids }) => ids.length)).toEqual([256, 44]);
});

describe('a commit whose outcome is unknown', () => {
  it('a commit with an unknown outcome is sent again unchanged on the same slot, until an answer comes', async () => {
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

  it('an unknown commit that the journal already has counts as applied, without its time', async () => {
    const { sent, told, timers, submit } = setup();
    await submit('a');
    await sent[0]!.reply('unknown');
    timers.advance(1_000);
    await settled();
    await sent[1]!.reply('alreadyApplied');
    expect(told).toEqual(['a committed at 0']);
  });

  it('an unknown commit keeps its slot, and later items wait or take another slot', async () => {
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
  it('a commit that failed for a temporary reason is sent again', async () => {
    const { sent, told, timers, submit } = setup();
    await submit('a');
    await sent[0]!.reply('retry');
    timers.advance(1_000);
    await settled();
    await sent[1]!.reply('applied');
    expect(told).toEqual(['a committed at 77']);
  });

  it('a batch with bad data is halved until the bad item is alone', async () => {
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

  it('a duplicate journal key that was not sent from here means that another runner has the execution', async () => {
    const { sent, told, submit } = setup();
    await submit('a', 'b');
    await sent[0]!.reply('alreadyApplied');
    await sent[1]!.reply('alreadyApplied');
    await sent[2]!.reply('applied');
    expect(told).toEqual(['a overtaken', 'b committed at 77']);
  });
});

describe('an unknown outcome with a duplicate journal key', () => {
  it('an unknown batch is bisected when the existing row is not ours, because the rest was not written', async () => {
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
  it('a dead fence applies nothing: no item is answered, and the loss is reported', async () => {
    const { sent, told, fence, submit, observer } = setup();
    await submit('a', 'b');
    await sent[0]!.reply('fenced');
    expect(told).toEqual([]);
    expect(fence.lost).toBe(1);
    expect(observer.counts.get('zombieWritesRejected')).toBe(2);
  });

  it('a dead fence drops pending items, and ignores the answers of those in flight', async () => {
    const { committer, sent, told, submit } = setup();
    await submit('a');
    await submit('b');
    committer.abandon();
    await sent[0]!.reply('applied');
    expect(told).toEqual([]);
    expect(sent).toHaveLength(1);
  });
});

import { describe, expect, it } from 'vitest';
import { settled } from '../clock/hand-timers.testing.ts';
import { systemTimers } from '../clock/system-timers.ts';
import type { AckItem, AckResult } from '../store/delivery-port.ts';
import { StoreError } from '../store/store-error.ts';
import { Acknowledgements } from './acknowledgements.ts';

const item = (ackGuid: string, changes: Partial<AckItem> = {}): AckItem => ({
  tenantId: 't',
  ackGuid,
  consumerId: '1',
  stage: 'Processed',
  outcome: 'succeeded',
  message: null,
  result: null,
  retryAt: null,
  ...changes,
});
const done: AckResult = { known: true, changed: true, stage: 'Processed', reacted: false };

function setup(write: (acks: AckItem[]) => Promise<AckResult[]> = async (acks) => acks.map(() => done)) {
  const batches: string[][] = [];
  let reactions = 0;
  const acknowledgements = new Acknowledgements({
    store: {
      deliveryAck({ acks }) {
        batches.push(acks.map(({ ackGuid, consumerId }) => `${ackGuid}${consumerId}`));
        return write(acks);
      },
    },
    timers: systemTimers,
    remindMs: [1],
    reactionsWaiting: () => void reactions++,
  });
  return { acknowledgements, batches, reactions: () => reactions };
}

describe('acknowledgements', () => {
  it('acknowledgements that arrive together are one statement, in the order of their ids', async () => {
    const { acknowledgements, batches } = setup();
    await Promise.all(['c', 'a', 'b'].map((guid) => acknowledgements.ack(item(guid))));
    expect(batches).toEqual([['a1', 'b1', 'c1']]);
  });

  it('two acknowledgements of one delivery are never in one statement, those of two consumers may be', async () => {
    const { acknowledgements, batches } = setup();
    const acks = [item('a'), item('a'), item('a', { consumerId: '2' })];
    await Promise.all(acks.map((ack) => acknowledgements.ack(ack)));
    expect(batches).toEqual([['a1', 'a2'], ['a1']]);
  });

  it('each acknowledgement gets its own answer', async () => {
    const { acknowledgements } = setup(async (acks) =>
      acks.map(({ ackGuid }) => ({ ...done, known: ackGuid === 'a' })),
    );
    const [b, a] = await Promise.all([acknowledgements.ack(item('b')), acknowledgements.ack(item('a'))]);
    expect([b.known, a.known]).toEqual([false, true]);
  });

  it('an acknowledgement that cannot be stored does not fail the others', async () => {
    const { acknowledgements } = setup(async (acks) => {
      if (acks.some(({ ackGuid }) => ackGuid === 'bad')) throw new StoreError('data', 'no');
      return acks.map(() => done);
    });
    const results = await Promise.allSettled(['a', 'bad', 'c', 'd'].map((guid) => acknowledgements.ack(item(guid))));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'REQUEST_INVALID' } });
  });

  it('an acknowledgement is repeated after a deadlock or a lost reply, and refused on a fatal error', async () => {
    let left = 2;
    const { acknowledgements, batches } = setup(async (acks) => {
      if (left-- > 0) throw new StoreError(left === 0 ? 'unknown' : 'retry', 'again');
      return acks.map(() => done);
    });
    expect(await acknowledgements.ack(item('a'))).toEqual(done);
    expect(batches).toHaveLength(3);
    const hopeless = setup(() => Promise.reject(new StoreError('fatal', 'no such table')));
    await expect(hopeless.acknowledgements.ack(item('a'))).rejects.toThrow('no such table');
    expect(hopeless.batches).toHaveLength(1);
  });

  it('the acknowledgement that completes a hook reports a waiting reaction', async () => {
    const { acknowledgements, reactions } = setup(async (acks) =>
      acks.map(({ ackGuid }) => ({ ...done, reacted: ackGuid === 'last' })),
    );
    await acknowledgements.ack(item('first'));
    expect(reactions()).toBe(0);
    await acknowledgements.ack(item('last'));
    await settled();
    expect(reactions()).toBe(1);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairGate, NOBODY } from './fair-gate.ts';

/** Work that is over when it is told to be. */
function held(gate: FairGate, name: string, weight = 1) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isIn = false;
  const done = gate.pass(name, weight, () => {
    isIn = true;
    return promise;
  });
  return {
    isIn: () => isIn,
    async leave() {
      resolve();
      await done;
      await new Promise(setImmediate);
    },
  };
}

describe('a fair gate', () => {
  it('I22: the gate keeps room for a newcomer beside one that would take all of it', async () => {
    const gate = new FairGate(5);
    const greedy = Array.from({ length: 100 }, () => held(gate, 'greedy'));
    expect(greedy.filter(({ isIn }) => isIn())).toHaveLength(4);
    const newcomer = held(gate, 'newcomer');
    expect(newcomer.isIn()).toBe(true);
    expect(gate.waiting).toBe(96);
  });

  it('I22: the gate lets waiting names in by turns', async () => {
    const gate = new FairGate(1);
    const first = held(gate, 'a');
    const others = ['a', 'a', 'a', 'b'].map((name) => held(gate, name));
    const inside = () => others.map(({ isIn }) => isIn());
    await first.leave();
    expect(inside()).toEqual([true, false, false, false]);
    await others[0]!.leave();
    expect(inside()).toEqual([true, false, false, true]);
  });

  it('work larger than the room of the gate runs alone, and then the work that waited', async () => {
    const gate = new FairGate(10);
    const small = held(gate, 'a', 3);
    const large = held(gate, 'b', 50);
    const after = held(gate, 'c', 1);
    expect([large.isIn(), after.isIn()]).toEqual([false, true]);
    await small.leave();
    expect(large.isIn()).toBe(false);
    await after.leave();
    expect(large.isIn()).toBe(true);
    const late = held(gate, 'd', 1);
    expect(late.isIn()).toBe(false);
    await large.leave();
    expect(late.isIn()).toBe(true);
  });

  it('the gate frees the room of failed work, and lets all work in eventually', async () => {
    const names = fc.constantFrom('a', 'b', 'c', NOBODY);
    const job = fc.record({ name: names, weight: fc.integer({ min: 1, max: 12 }), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.array(job, { maxLength: 30 }), async (room, jobs) => {
        const gate = new FairGate(room);
        let used = 0;
        const ended = await Promise.allSettled(
          jobs.map(({ name, weight, fails }) =>
            gate.pass(name, weight, async () => {
              expect(used === 0 || used + weight <= room).toBe(true);
              used += weight;
              await Promise.resolve();
              used -= weight;
              if (fails) throw new Error('failed');
            }),
          ),
        );
        expect(ended.filter(({ status }) => status === 'rejected')).toHaveLength(
          jobs.filter(({ fails }) => fails).length,
        );
        expect(gate.waiting).toBe(0);
      }),
    );
  });
});

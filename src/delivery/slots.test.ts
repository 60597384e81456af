import { describe, expect, it } from 'vitest';
import { type HandTimers, handTimers } from '../clock/hand-timers.testing.ts';
import { Slots } from './slots.ts';

function setup() {
  const timers: HandTimers = handTimers();
  const slots = new Slots(timers);
  const ends: (() => void)[] = [];
  /** Takes a slot, or waits for one. */
  const take = () =>
    slots.use(2, (waitedMs) => new Promise<boolean>((resolve) => ends.push(() => resolve(waitedMs > 0))));
  /** Takes a slot for this long. */
  const takeFor = async (ms: number) => {
    const taken = take();
    timers.advance(ms);
    ends.pop()!();
    return taken;
  };
  return { slots, take, takeFor, ends };
}

describe('slots', () => {
  it('a consumer has its number of slots at once, and further deliveries wait', async () => {
    const { slots, take, ends } = setup();
    const [first, second, third] = [take(), take(), take()];
    expect(ends).toHaveLength(2);
    expect(slots.wanted(2, 3)).toBe(0);
    ends.shift()!();
    expect(await first).toBe(false);
    await Promise.resolve();
    expect(ends).toHaveLength(2);
    for (const end of ends) end();
    expect([await second, await third]).toEqual([false, true]);
    expect(slots.isIdle).toBe(true);
  });

  it('a freed slot goes to the delivery that waited, not to one that just arrived', async () => {
    const { slots } = setup();
    let atOnce = 0;
    let most = 0;
    const during = (time: Promise<void>) => () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      return time.finally(() => {
        atOnce -= 1;
      });
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = during(promise)();
    atOnce = 1;
    const first = slots.use(1, () => held);
    const second = slots.use(1, during(Promise.resolve()));
    const third = held.then(() => slots.use(1, during(Promise.resolve())));
    resolve();
    await Promise.all([first, second, third]);
    expect(most).toBe(1);
    expect(slots.isIdle).toBe(true);
  });

  it('slots of an unknown or slow consumer are filled as they become free', async () => {
    const { slots, take, takeFor } = setup();
    expect(slots.wanted(2, 0)).toBe(2);
    void take();
    expect(slots.wanted(2, 1)).toBe(1);
    await takeFor(5_000);
    expect(slots.wanted(2, 1)).toBe(1);
  });

  it('slots of a fast consumer are filled ahead, but not for only a few deliveries', async () => {
    const { slots, take, takeFor } = setup();
    await takeFor(5);
    expect(slots.wanted(2, 0)).toBe(8);
    for (let count = 0; count < 6; count++) void take();
    expect(slots.wanted(2, 6)).toBe(2);
    void take();
    expect(slots.wanted(2, 7)).toBe(0);
  });

  it('slots are not filled while too many results are not yet written', async () => {
    const { slots, takeFor } = setup();
    await takeFor(5);
    expect(slots.wanted(2, 16)).toBe(0);
    expect(slots.wanted(2, 13)).toBe(3);
  });
});

// Compares random machines and triggers with a reference that looks everything up in the written definition.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileLifecycle } from './compile.ts';
import type { Instance } from './decision.ts';
import { lifecycleSvg } from './diagram/svg.ts';
import { instanceIn, triggerOf } from './loan.testing.ts';
import { timeoutOf } from './timeout.ts';
import { transition } from './transition.ts';

interface Written {
  states: Record<
    string,
    { final?: boolean; timeout?: { after: string; event: string; mode: 'once' | 'repeat'; max?: number } }
  >;
  events: Record<string, { code: number }>;
  transitions: { from: string; on: string; to: string; reenter?: boolean }[];
}

const STATES = ['s0', 's1', 's2', 's3', 's4'];
const EVENTS = ['e0', 'e1', 'e2', 'e3'];

/** Reachable by construction: each state has a transition from an earlier one. */
const machines = fc
  .record({
    size: fc.integer({ min: 2, max: STATES.length }),
    tree: fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: STATES.length, maxLength: STATES.length }),
    more: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.boolean()), { maxLength: 8 }),
    timeouts: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 9 }), fc.option(fc.integer({ min: 1, max: 3 }))), {
      maxLength: 3,
    }),
  })
  .map(({ size, tree, more, timeouts }) => {
    const states = STATES.slice(0, size);
    const transitions = new Map<string, Written['transitions'][number]>();
    const add = (from: string, on: string, to: string, reenter = false) => {
      const key = `${from} ${on}`;
      if (!transitions.has(key)) transitions.set(key, { from, on, to, ...(reenter && from === to ? { reenter } : {}) });
    };
    for (let index = 1; index < size; index++) {
      const [from, on] = tree[index]!;
      const parent = states[from % index]!;
      const free = EVENTS.find((event) => !transitions.has(`${parent} ${event}`));
      add(parent, free ?? EVENTS[on % EVENTS.length]!, states[index]!);
    }
    for (const [from, on, to, reenter] of more) {
      add(states[from % size]!, EVENTS[on % EVENTS.length]!, states[to % size]!, reenter);
    }
    const written: Written = {
      states: Object.fromEntries(states.map((state) => [state, {}])),
      events: Object.fromEntries(EVENTS.map((event, code) => [event, { code }])),
      transitions: [...transitions.values()],
    };
    for (const [state, seconds, max] of timeouts) {
      const exits = written.transitions.filter(({ from }) => from === states[state % size]);
      const event = exits[state % Math.max(1, exits.length)]?.on;
      if (event === undefined) continue;
      const options = max === null ? { mode: 'once' as const } : { mode: 'repeat' as const, max };
      written.states[states[state % size]!] = { timeout: { after: `${seconds}s`, event, ...options } };
    }
    return written;
  });

/** The expected outcome, written as naively as possible. */
function expected(written: Written, instance: Instance, event: string, byTimeout: boolean, now: number) {
  const move = written.transitions.find(({ from, on }) => from === instance.state && on === event);
  if (move === undefined) {
    const leadsHere = written.transitions.some(({ on, to }) => on === event && to === instance.state);
    return leadsHere && instance.revision > 0 ? 'NoOpAlreadyInState' : 'TransitionRejected';
  }
  const timeout = written.states[move.to]!.timeout;
  const afterMs = timeout === undefined ? 0 : Number.parseInt(timeout.after, 10) * 1_000;
  const left = (fired: number) => (timeout?.mode === 'once' ? fired < 1 : fired < (timeout?.max ?? 0));
  const stays = move.from === move.to && move.reenter !== true;
  const timeoutsFired = stays ? instance.timeoutsFired + (byTimeout ? 1 : 0) : 0;
  const next = { state: move.to, revision: instance.revision + 1, timeoutsFired };
  if (timeout === undefined)
    return {
      ...next,
      timeoutsFired: stays ? instance.timeoutsFired : 0,
      stateSince: stays ? instance.stateSince : now,
      dueAt: null,
    };
  if (!stays) return { ...next, stateSince: now, dueAt: now + afterMs };
  const due = byTimeout ? now + afterMs : instance.timeoutsFired === 0 ? instance.stateSince + afterMs : instance.dueAt;
  return { ...next, stateSince: instance.stateSince, dueAt: left(timeoutsFired) ? due : null };
}

const steps = fc.array(fc.record({ event: fc.nat(), wait: fc.integer({ min: 0, max: 20_000 }) }), { maxLength: 25 });

it('random machines follow their definition, trigger by trigger', () => {
  fc.assert(
    fc.property(machines, steps, (written, triggers) => {
      const { machine } = compileLifecycle({ env: 'test', name: 'random', initial: 's0', ...written });
      let instance = instanceIn('s0', { revision: 0, stateSince: 0 });
      let now = 0;
      for (const { event, wait } of triggers) {
        now += wait;
        const due = timeoutOf(machine!, instance);
        // A timeout is a trigger like any other, but only when it is due.
        const byTimeout = instance.revision > 0 && due !== null && due.dueAt <= now;
        const name = byTimeout ? due.event : EVENTS[event % EVENTS.length]!;
        const trigger = byTimeout
          ? triggerOf(name, { cause: { type: 'timeout', state: instance.state, count: due.count } })
          : triggerOf(event % 2 === 0 ? name : written.events[name]!.code);
        const { facts, notices } = transition(machine!, instance, trigger, { now });
        const wanted = expected(written, instance, name, byTimeout, now);
        if (typeof wanted === 'string') expect([facts, notices.map(({ kind }) => kind)]).toEqual([[], [wanted]]);
        else {
          const { to: state, revision, stateSince, timeoutsFired, dueAt } = facts[0]!;
          instance = { ...instance, state, revision, stateSince, timeoutsFired, dueAt };
          expect({ state, revision, stateSince, timeoutsFired, dueAt }).toEqual(wanted);
          expect(timeoutOf(machine!, instance)?.dueAt ?? null).toBe(dueAt);
        }
      }
    }),
    { numRuns: 300 },
  );
});

it('random machines can be drawn, and always look the same', () => {
  fc.assert(
    fc.property(machines, (written) => {
      const { machine } = compileLifecycle({ env: 'test', name: 'random', initial: 's0', ...written });
      const svg = lifecycleSvg(machine!);
      expect(svg).toBe(lifecycleSvg(machine!));
      expect(svg).not.toMatch(/NaN|Infinity|undefined/);
      expect(svg.match(/class="state"/g)).toHaveLength(Object.keys(written.states).length);
    }),
    { numRuns: 100 },
  );
});

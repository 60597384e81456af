// Compares the decider with the naive reference and with its own laws, on random plans and random orders of events. Each property
// names the invariant it proves (I7, I8, I13–I16).

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../json/json.ts';
import { fromCheckpoint, toCheckpoint } from './checkpoint.ts';
import { decide } from './decide.ts';
import { applyTransition } from './evolve.ts';
import type { Transition } from './fact.ts';
import { checkJournal } from './journal-laws.testing.ts';
import { nextDue } from './next-due.ts';
import { START } from './plan-builder.testing.ts';
import {
  type ControlKind,
  isCutSleep,
  type RandomPlan,
  randomPlan,
  randomScript,
  type Script,
} from './random-plan.testing.ts';
import type { SkipCategory } from './reference-routing.testing.ts';
import { play, type Run } from './scenario.testing.ts';
import { initialState, isFinal, isTerminal, type State } from './state.ts';

/** Fixed, so that a red test points to a change. Try other seeds when you change the decider. */
const SEED = 20_260_731;

const EVERYTHING: ControlKind[] = [
  'pause',
  'resume',
  'cancel',
  'giveUp',
  'retryStep',
  'forceRetryStep',
  'rerunFrom',
  'completeStep',
  'updateParams',
  'override',
  'escalate',
  'repeatSignal',
];

describe('agreement of the decider with the naive reference', () => {
  test.each(['graph', 'pipeline', 'plan'] as const)(
    'the decider agrees with the reference on %s plans without outside events',
    (format) => {
      check(randomPlan({ formats: [format] }), [], 250, (random, script) => {
        expectAgreement(play(random, script, expectSameProgress));
      });
    },
  );

  test('the decider agrees with the reference under cancels, signals, deadlines, duplicates and late results', () => {
    check(randomPlan({ maxNodes: 15, timeouts: true }), EVERYTHING, 600, (random, script) => {
      expectAgreement(play(random, script, expectSameProgress));
    });
  });

  test('the decider agrees with the reference after steps are retried and ended runs reopened', () => {
    check(randomPlan({ maxNodes: 12 }), ['retryStep', 'forceRetryStep', 'pause'], 600, (random, script) => {
      expectAgreement(play(random, script, expectSameProgress));
    });
  });

  test('the decider agrees with the reference after RERUN_FROM of ended runs and after COMPLETE_STEP', () => {
    const repairs: ControlKind[] = ['rerunFrom', 'completeStep', 'forceRetryStep', 'pause', 'cancel'];
    check(randomPlan({ maxNodes: 12 }), repairs, 800, (random, script) => {
      expectAgreement(play(random, script, expectSameProgress));
    });
  });

  test('the decider agrees with the reference on joins of all and first, cancelled losers and edges by code', () => {
    const graphs = randomPlan({ formats: ['graph'], maxNodes: 14, joins: true });
    check(graphs, ['cancel', 'pause', 'resume', 'updateParams'], 900, (random, script) => {
      const run = play(random, script, expectSameProgress);
      expectAgreement(run);
      checkJournal(run);
    });
  });

  test('S4: the decider agrees with the reference when every decision stops after one evaluation', () => {
    check(randomPlan({ maxNodes: 15, timeouts: true }), EVERYTHING, 600, (random, script) => {
      expectAgreement(play(random, { ...script, inSlices: true }));
    });
  });

  test('the decider agrees with the reference on plans of up to a thousand nodes', () => {
    const large = fc.property(
      randomPlan({ minNodes: 200, maxNodes: 1_000, orderFree: true }),
      randomScript([]),
      (random, script) => {
        expectAgreement(play(random, script));
      },
    );
    // A case of this size is not worth shrinking: the tests above find the small ones.
    fc.assert(large, { numRuns: 6, seed: SEED, endOnFailure: true });
  });
});

describe('laws of every journal', () => {
  test('I7, I8, I13, I14: keys, timers, one end, attempts start once, nothing starts during a pause', () => {
    check(randomPlan({ maxNodes: 20, timeouts: true }), EVERYTHING, 500, (random, script) => {
      checkJournal(play(random, script));
    });
  });

  test('I14: the order of completion does not change how nodes end', () => {
    const inputs = [randomPlan({ orderFree: true }), randomScript([]), randomScript([])] as const;
    fc.assert(
      fc.property(...inputs, (random, one, other) => {
        expect(statusesOf(play(random, one))).toEqual(statusesOf(play(random, other)));
      }),
      { numRuns: 200, seed: SEED },
    );
  });
});

describe('replay', () => {
  test('I15, I16: the folded journal gives the same state and the same decision after every transition', () => {
    check(randomPlan({ maxNodes: 15, timeouts: true }), EVERYTHING, 300, (random, script) => {
      const folded = initialState(random.plan, START);
      let count = 0;
      play(random, script, (run) => {
        for (; count < run.steps.length; count++) {
          const { input, context, decision } = run.steps[count]!;
          if (count % 2 === 0) applyTransition(folded, stored(decision.transition));
          else expect(JSON.stringify(decide(folded, input, context))).toBe(JSON.stringify(decision));
        }
        expect(snapshot(folded)).toBe(snapshot(run.state));
      });
    });
  });

  test('I15: an execution loaded from a checkpoint goes on with the same facts', () => {
    check(randomPlan({ maxNodes: 15, timeouts: true }), EVERYTHING, 300, (random, script) => {
      let parked = initialState(random.plan, START);
      let count = 0;
      play(random, script, (run) => {
        for (; count < run.steps.length; count++) {
          const { input, context, decision } = run.steps[count]!;
          expect(JSON.stringify(decide(parked, input, context))).toBe(JSON.stringify(decision));
          if ((count + script.seed) % 3 !== 0) continue;
          const checkpoint = JSON.parse(JSON.stringify(toCheckpoint(parked)));
          parked = fromCheckpoint(random.plan, START, checkpoint);
          restoreParameters(parked, run.steps.slice(0, count + 1));
        }
        expect(nextDue(parked)).toBe(nextDue(run.state));
      });
    });
  });

  test('I16: the same script gives byte-identical journals', () => {
    check(randomPlan({ maxNodes: 15, timeouts: true }), EVERYTHING, 100, (random, script) => {
      const journal = (run: Run) => JSON.stringify(run.steps.map((step) => step.decision));
      expect(journal(play(random, script))).toBe(journal(play(random, script)));
    });
  });
});

describe('a reopened run', () => {
  test('a reopened run succeeds once its failed steps do, and runs no succeeded step again', () => {
    const plans = randomPlan({ formats: ['graph', 'plan'], maxNodes: 12 });
    let reopened = 0;
    check(plans, [], 400, (random, script) => {
      const first = play(random, script);
      if (first.state.status !== 'Failed') return;
      const succeeded = statusesOf(first).map((status) => status === 'Succeeded');
      const attempts = first.state.nodes.map((node) => node.attempts);
      const second = playOn(random, script, first);
      if (second === null) return;
      reopened++;
      expect(second.state.status).toBe('Succeeded');
      second.state.nodes.forEach((node, index) => {
        if (succeeded[index]) expect(node.attempts).toBe(attempts[index]);
      });
    });
    expect(reopened).toBeGreaterThan(20);
  });
});

/** Plays the same events again in a plan whose failures are over after the first end; every failed step is retried by force. */
function playOn(random: RandomPlan, script: Script, first: Run): Run | null {
  const incurable = first.state.nodes.some((node, at) => isFailed(node.status) && random.kinds[at] === 'badTemplate');
  const laterTrouble = random.kinds.some((kind) => kind === 'badTemplate' || kind === 'webhook');
  if (incurable || laterTrouble || random.plan.nodes.some(isCutSleep)) return null;
  const cured = {
    ...random,
    outcomes: random.outcomes.map((outcomes, at) => outcomes.slice(0, first.state.nodes[at]!.attempts)),
  };
  return play(cured, { ...script, retryAll: true });
}

function isFailed(status: string): boolean {
  return status === 'Failed' || status === 'TimedOut';
}

function check(
  plans: fc.Arbitrary<RandomPlan>,
  controls: readonly ControlKind[],
  numRuns: number,
  property: (random: RandomPlan, script: Script) => void,
): void {
  fc.assert(fc.property(plans, randomScript(controls), property), { numRuns, seed: SEED });
}

/** During a run, a node that will not run may be marked at different times, and a stop may tidy up at its end. */
function expectSameProgress(run: Run): void {
  const { state, reference } = run;
  const isOver = isTerminal(reference.status);
  if (isOver || reference.stopping === null) expect(state.status).toBe(reference.status);
  const own = state.nodes.map((node) => `${node.attempts} ${isOver ? node.status : phase(node.status)}`);
  const expected = reference.nodes.map((node) => `${node.attempts} ${isOver ? node.status : phase(node.status)}`);
  const isOpen = (line: string) => /Sleeping|Waiting|Retrying/.test(line);
  if (reference.stopping !== null) {
    own.forEach((line, at) => {
      if (isOpen(line) || isOpen(expected[at]!)) own[at] = expected[at]!;
    });
  }
  expect(own).toEqual(expected);
}

function phase(status: string): string {
  return status === 'Pending' || status === 'Skipped' ? 'not run' : status;
}

function expectAgreement(run: Run): void {
  const { state, reference } = run;
  expect(state.status).toBe(reference.status);
  expect(statusesOf(run)).toEqual(reference.nodes.map((node) => node.status));
  expect(state.nodes.map((node) => node.attempts)).toEqual(reference.nodes.map((node) => node.attempts));
  state.edges.forEach((edge, at) => {
    const from = reference.nodes[run.random.plan.edges[at]!.from]!;
    if (from.endedWhileStopping || !isFinal(from.status)) return;
    expect(`edge ${at} ${edge === 'satisfied'}`).toBe(`edge ${at} ${reference.edges[at]}`);
  });
  const wasStopped = reference.nodes.some((node) => node.skip === 'stopped') || state.status !== 'Succeeded';
  state.nodes.forEach((node, at) => {
    const skip = reference.nodes[at]!.skip;
    if (skip !== null && !wasStopped) expect(node.reason).toMatch(REASONS[skip]);
  });
}

const REASONS: Record<SkipCategory, RegExp> = {
  'no satisfied edge': /no satisfied edge|satisfied edges are possible|not needed/,
  cascade: /cascade|need|depend/,
  condition: /condition/,
  'not needed': /not needed|no satisfied edge|satisfied edges are possible|cascade/,
  stopped: /./,
};

function statusesOf(run: Run): string[] {
  return run.state.nodes.map((node) => node.status);
}

/** A checkpoint has no parameters: the driver reads those of unfinished attempts from the journal. */
function restoreParameters(state: State, steps: Run['steps']): void {
  state.nodes.forEach((node, index) => {
    const isUnfinished = node.status === 'Running' || node.status === 'Retrying' || node.status === 'Waiting';
    if (!isUnfinished || node.renderedSeq < 0) return;
    const rendered = steps.find(
      ({ decision }) => decision.transition.seq === node.renderedSeq && decision.transition.inputs,
    );
    node.params = rendered?.decision.transition.inputs?.[state.plan.nodes[index]!.id];
  });
}

/** As the journal stores it: through JSON. */
function stored(transition: Transition): Transition {
  return JSON.parse(JSON.stringify(transition));
}

/** Everything in a state except the heap, whose stale entries depend on when it was read. Its answers are compared instead. */
function snapshot(state: State): string {
  const { plan: _plan, start: _start, timers: _timers, scope: _scope, unhandledNodes, signals, ...rest } = state;
  return canonicalJson({
    ...rest,
    unhandledNodes: [...unhandledNodes],
    signals: [...signals],
    due: nextDue(state),
  });
}

// How fast decisions are: a 1,000-node fan-out and fan-in from start to end, and whether a fact costs the same in a short and in
// a long execution.

import { decide } from '../src/core/decider/decide.ts';
import { type ExecutionStart, initialState } from '../src/core/decider/state.ts';
import { compileDefinition } from '../src/core/definition/compile.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import type { Measurement } from './measurement.ts';
import { bestOf } from './measurement.ts';

/** Attempts that fail before one succeeds, in the long journals. */
const FAILURES = 4;
const FACTS_PER_SAMPLE = 20_000;

export function benchDecider(): Measurement[] {
  const fan = compile(fanOut(998));
  const perFact = [1, 10, 100, 909].map((length) => {
    const plan = compile(chain(length));
    const facts = runToEnd(plan, FAILURES).facts;
    return { facts, value: bestOf(30, () => msPerFact(plan, facts)) * 1000 };
  });
  return [
    {
      name: 'decide a 1,000-node fan-out/fan-in, start to end',
      value: bestOf(30, () => runToEnd(fan, 0).ms),
      unit: 'ms',
    },
    ...perFact.map(({ facts, value }) => ({ name: `decide, per fact of a journal of ${facts}`, value, unit: 'µs' })),
  ];
}

/** Runs as many executions as give the same number of facts, so that short and long journals make the same amount of garbage. */
function msPerFact(plan: Plan, facts: number): number {
  const executions = Math.ceil(FACTS_PER_SAMPLE / facts);
  let ms = 0;
  for (let execution = 0; execution < executions; execution++) ms += runToEnd(plan, FAILURES).ms;
  return ms / (executions * facts);
}

function compile(definition: unknown): Plan {
  const result = compileDefinition(definition);
  if (!result.ok) throw new Error(JSON.stringify(result.problems[0]));
  return result.plan;
}

function fanOut(width: number): unknown {
  const middle = Array.from({ length: width }, (_, index) => `n${index}`);
  return {
    id: 'fan',
    displayName: 'Fan',
    startNode: 'start',
    nodes: [
      { id: 'start', actionType: 'core.echo', edges: middle.map((targetNode) => ({ targetNode })) },
      ...middle.map((id) => ({ id, actionType: 'core.echo', edges: [{ targetNode: 'end' }] })),
      { id: 'end', actionType: 'core.echo' },
    ],
  };
}

function chain(length: number): unknown {
  return {
    id: 'chain',
    displayName: 'Chain',
    startNode: 'n0',
    nodes: Array.from({ length }, (_, index) => ({
      id: `n${index}`,
      actionType: 'core.echo',
      policies: { retry: { maxAttempts: FAILURES + 1, baseDelayMs: 0 } },
      parameters: index === 0 ? { x: '{{ trigger.x }}' } : { x: `{{ context.data['n${index - 1}'].x }}` },
      ...(index === length - 1 ? {} : { edges: [{ targetNode: `n${index + 1}` }] }),
    })),
  };
}

const START: ExecutionStart = {
  executionId: '00000000-0000-7000-8000-000000000000',
  tenantId: 'bench',
  workflowId: 'bench',
  version: 1,
  trigger: { x: 1 },
  principal: null,
  correlationId: 'bench',
  callbackUrls: {},
};

function runToEnd(plan: Plan, failures: number): { ms: number; facts: number } {
  const context = { now: 1, seed: 1, abortGraceMs: 0 };
  const error = { code: 'ACTION_FAILED', message: 'not yet' };
  const started = performance.now();
  const state = initialState(plan, START);
  let commands = decide(state, { type: 'started' }, context).commands;
  while (state.status === 'Running') {
    const next = commands;
    commands = [];
    for (const command of next) {
      if (command.type !== 'runAction') continue;
      const { node, attempt } = command;
      if (attempt <= failures) {
        decide(state, { type: 'attemptFailed', node, attempt, error, retryable: true }, context);
        commands.push(...decide(state, { type: 'timerDue' }, context).commands);
      } else {
        const result = { type: 'attemptSucceeded' as const, node, attempt, outputs: { x: 1 }, bytes: 7 };
        commands.push(...decide(state, result, context).commands);
      }
    }
  }
  return { ms: performance.now() - started, facts: state.seq };
}

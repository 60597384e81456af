import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/core/decider/decide.ts';
import { initialState } from '../../../src/core/decider/state.ts';
import { compileDefinition } from '../../../src/core/definition/compile.ts';
import {
  attemptsOf,
  factCount,
  foldTo,
  graphOf,
  type Journal,
  type JournalTransition,
  previewOf,
  refusalOfSignal,
  timeAt,
  withTransitions,
} from './journal.ts';

const DEFINITION = {
  id: 'orders',
  displayName: 'Orders',
  startNode: 'fetch',
  nodes: [
    { id: 'fetch', actionType: 'core.echo', parameters: {}, edges: [{ targetNode: 'charge' }] },
    {
      id: 'charge',
      actionType: 'core.echo',
      parameters: {},
      policies: { retry: { maxAttempts: 1 } },
      edges: [{ targetNode: 'receipt' }],
    },
    { id: 'receipt', actionType: 'core.echo', parameters: {} },
  ],
};

function failedJournal(): Journal {
  const compiled = compileDefinition(DEFINITION);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const start = {
    executionId: '01a1ec23-0000-7000-8000-000000000001',
    tenantId: 't',
    workflowId: 'orders',
    version: 1,
    trigger: {},
    principal: {},
    correlationId: 'c',
    callbackUrls: {},
  };
  const state = initialState(compiled.plan, start);
  const inputs = [
    { type: 'started' },
    { type: 'attemptSucceeded', node: 0, attempt: 1, outputs: {}, bytes: 2 },
    { type: 'attemptFailed', node: 1, attempt: 1, error: { code: 'HTTP_503', message: 'down' }, retryable: false },
  ] as const;
  const transitions: JournalTransition[] = inputs.map(
    (input, index) => decide(state, input, { now: 1_000 * (index + 1), seed: 0, abortGraceMs: 0 }).transition,
  );
  return { plan: compiled.plan, start, transitions, waits: [{ nodeId: 'charge', attempt: 1, waitedMs: 7 }] };
}

describe('a journal in the browser', () => {
  const journal = failedJournal();
  const statusesAt = (count?: number) => graphOf(foldTo(journal, count)).nodes.map(({ status }) => status);

  it('folds to what the engine believed, at the end and at any fact (I15)', () => {
    expect(statusesAt()).toEqual(['Succeeded', 'Failed', 'Skipped']);
    expect(statusesAt(0)).toEqual(['Pending', 'Pending', 'Pending']);
    for (let count = 0; count <= factCount(journal); count++) expect(foldTo(journal, count).seq).toBe(count);
    expect(graphOf(foldTo(journal)).edges.map(({ state }) => state)).toEqual(['satisfied', 'unsatisfied']);
  });

  it('knows its length and the time of a fact', () => {
    expect(factCount({ ...journal, transitions: [] })).toBe(0);
    expect([timeAt(journal, 0), timeAt(journal, 1), timeAt(journal, factCount(journal))]).toEqual([
      undefined,
      1_000,
      3_000,
    ]);
  });

  it('takes a transition that is sent twice once', () => {
    const first = { ...journal, transitions: journal.transitions.slice(0, 1) };
    const whole = withTransitions(first, journal.transitions);
    expect(whole.transitions).toEqual(journal.transitions);
    expect(withTransitions(whole, journal.transitions)).toBe(whole);
  });

  it('lists attempts with their times and their wait', () => {
    expect(attemptsOf(journal)).toMatchObject([
      { nodeId: 'fetch', status: 'Succeeded', startedAt: 1_000, endedAt: 2_000 },
      { nodeId: 'charge', status: 'Failed', startedAt: 2_000, endedAt: 3_000, waitedMs: 7 },
    ]);
    expect(attemptsOf(journal, 2)).toMatchObject([{ nodeId: 'fetch', status: 'Running' }]);
  });

  it('previews what a retry runs again and what it keeps, and why it would be refused', () => {
    const retry = { signal: 'RETRY_STEP', payload: { stepId: 'charge', force: true } } as const;
    expect(previewOf(journal, retry, 9_000)).toEqual({
      again: ['charge', 'receipt'],
      kept: ['fetch'],
      failed: [],
      refused: null,
    });
    expect(previewOf(journal, { signal: 'PAUSE', payload: {} }, 9_000).refused).toContain('has ended');
    expect(refusalOfSignal(journal, retry)).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/core/decider/decide.ts';
import type { Input } from '../../../src/core/decider/input.ts';
import { initialState } from '../../../src/core/decider/state.ts';
import { compileDefinition } from '../../../src/core/definition/compile.ts';
import type { Journal, JournalTransition } from './journal.ts';
import { itemsOf, nodeInLoop, nodesOfItem } from './loop.ts';

const DEFINITION = {
  id: 'parcels',
  displayName: 'Parcels',
  startNode: 'ship',
  nodes: [
    {
      id: 'ship',
      actionType: 'core.echo',
      parameters: { parcel: '{{ item }}' },
      forEach: { items: '{{ trigger.parcels }}', parallel: 2, tolerate: 1 },
      policies: { retry: { maxAttempts: 1 } },
    },
  ],
};

/** Three parcels, two at a time: the first arrives, the second is lost, the third is on its way. */
function journalOf(): Journal {
  const compiled = compileDefinition(DEFINITION);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { plan } = compiled;
  const start = {
    executionId: '01a1ec23-0000-7000-8000-000000000001',
    tenantId: 't',
    workflowId: 'parcels',
    version: 1,
    trigger: { parcels: ['a', 'b', 'c'] },
    principal: {},
    correlationId: 'c',
    callbackUrls: {},
  };
  const state = initialState(plan, start);
  const [first, second] = [plan.nodes.length, plan.nodes.length + 1];
  const lost = { code: 'LOST', message: 'the van is empty' };
  const inputs: Input[] = [
    { type: 'started' },
    { type: 'attemptSucceeded', node: first, attempt: 1, outputs: {}, bytes: 2 },
    { type: 'attemptFailed', node: second, attempt: 1, error: lost, retryable: false },
  ];
  const transitions: JournalTransition[] = inputs.map(
    (input, index) => decide(state, input, { now: 1_000 * (index + 1), seed: 0, abortGraceMs: 0 }).transition,
  );
  return { plan, start, transitions, waits: [] };
}

describe('the items of a loop', () => {
  it('are told from the journal: what is done, what failed and why, what runs', () => {
    const journal = journalOf();
    expect(itemsOf(journal, 'ship')).toMatchObject([
      { item: 0, status: 'Succeeded' },
      { item: 1, status: 'Failed', error: { code: 'LOST' } },
      { item: 2, status: 'Running' },
    ]);
    expect(itemsOf(journal, 'ship', 0)).toEqual([]);
    expect(itemsOf(journal, 'nothing')).toEqual([]);
  });

  it('have nodes of their own, which are shown like written ones', () => {
    const journal = journalOf();
    expect(nodesOfItem(journal, 'ship', 1)).toEqual(['ship[1]']);
    expect(nodesOfItem(journal, 'nothing', 1)).toEqual([]);
    expect(nodeInLoop(journal, 'ship[1]')).toMatchObject({ type: 'core.echo', status: 'Failed', attempts: 1 });
    expect(nodeInLoop(journal, 'ship[2]')).toMatchObject({ status: 'Running' });
    expect(nodeInLoop(journal, 'ship[2]', 0)).toMatchObject({ status: 'Pending', attempts: 0 });
    expect(nodeInLoop(journal, 'ship')).toBeNull();
    expect(nodeInLoop(journal, 'ship[99999999]')).toBeNull();
  });
});

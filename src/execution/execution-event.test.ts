import { describe, expect, it } from 'vitest';
import type { Fact } from '../core/decider/fact.ts';
import { compileDefinition } from '../core/definition/compile.ts';
import type { Plan } from '../core/plan/plan.ts';
import { WARNING_LEVEL } from '../engine/attempt/disabled-actions.ts';
import type { ActionLogRow } from '../store/port.ts';
import { endsAttempts, eventsOf } from './execution-event.ts';

const plan = planOf({
  id: 'w',
  displayName: 'w',
  startNode: 'a',
  nodes: [
    { id: 'a', actionType: 'core.echo', parameters: {}, edges: [{ targetNode: 'b' }] },
    { id: 'b', actionType: 'core.echo', parameters: {} },
  ],
});

function planOf(definition: unknown): Plan {
  const compiled = compileDefinition(definition as never);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.plan;
}

const row = (seq: number, ...facts: Fact[]) => ({ seq, at: 1_000, facts: JSON.stringify(facts) });
const log = (nodeId: string, attempt: number, message: string): ActionLogRow => ({
  executionId: 'e',
  nodeId,
  attempt,
  at: 900,
  level: 'info',
  message,
  data: null,
});

const JOURNAL = [
  row(
    0,
    { type: 'ExecutionStarted', deadline: 3_600_000 },
    { type: 'NodeStarted', node: 0, attempt: 1, rendered: true },
  ),
  row(
    2,
    { type: 'NodeSucceeded', node: 0, attempt: 1, outputs: null, bytes: 4 },
    { type: 'EdgesResolved', satisfied: [0], unsatisfied: [] },
    { type: 'NodeStarted', node: 1, attempt: 1 },
  ),
  row(5, { type: 'RetryScheduled', node: 1, attempt: 1, error: { code: 'X', message: 'no' }, until: 2_000 }),
];

describe('the journal as events', () => {
  it('the journal has one event per fact, numbered without gaps, with names and times', () => {
    const events = eventsOf(plan, JOURNAL, [], -1);
    expect(events.map(({ seq, type, nodeId }) => [seq, type, nodeId])).toEqual([
      [0, 'ExecutionStarted', undefined],
      [1, 'NodeStarted', 'a'],
      [2, 'NodeSucceeded', 'a'],
      [3, 'EdgesResolved', undefined],
      [4, 'NodeStarted', 'b'],
      [5, 'RetryScheduled', 'b'],
    ]);
    expect(events[0]!.data).toEqual({ deadline: '1970-01-01T01:00:00.000Z' });
    expect(events[3]!.data).toEqual({ satisfied: [{ from: 'a', to: 'b', when: 'success' }], unsatisfied: [] });
    expect(events[5]).toMatchObject({ level: 'Warn', data: { until: '1970-01-01T00:00:02.000Z' } });
  });

  it('the log lines of an attempt come right before the fact that ended it, with its number', () => {
    const logs = [log('a', 1, 'first'), log('b', 1, 'second'), log('b', 2, 'later')];
    const events = eventsOf(plan, JOURNAL, logs, -1).filter(({ type }) => type !== 'NodeStarted');
    expect(events.map(({ seq, type }) => [seq, type])).toEqual([
      [0, 'ExecutionStarted'],
      [2, 'Log'],
      [2, 'NodeSucceeded'],
      [3, 'EdgesResolved'],
      [5, 'Log'],
      [5, 'RetryScheduled'],
    ]);
    expect(events[1]).toMatchObject({
      category: 'Action:core.echo',
      nodeId: 'a',
      data: { message: 'first', attempt: 1 },
    });
  });

  it('fields without a value are left out, except outputs', () => {
    const journal = [
      row(
        0,
        { type: 'ExecutionStarted', deadline: null },
        { type: 'NodeWaiting', node: 0, attempt: 1, kind: 'webhook', until: null },
        { type: 'NodeSucceeded', node: 0, attempt: 1, outputs: null, bytes: 4 },
      ),
    ];
    const warning = { ...log('a', 1, 'mind'), level: WARNING_LEVEL };
    expect(eventsOf(plan, journal, [warning], -1).map(({ data }) => data)).toEqual([
      {},
      { attempt: 1, kind: 'webhook' },
      { message: 'mind' },
      { attempt: 1, outputs: null, bytes: 4 },
    ]);
  });

  it('the events may continue in the middle of a transition', () => {
    expect(eventsOf(plan, JOURNAL.slice(1), [log('a', 1, 'seen')], 2).map(({ seq }) => seq)).toEqual([3, 4, 5]);
  });

  it('nodes are shown by their number when the plan cannot be loaded', () => {
    const events = eventsOf(null, JOURNAL, [], 1);
    expect(events[0]).toMatchObject({ type: 'NodeSucceeded', nodeId: '#0' });
    expect(events[1]!.data).toEqual({ satisfied: ['#0'], unsatisfied: [] });
  });

  it('log lines are needed only when an attempt ended', () => {
    expect(endsAttempts(JOURNAL.slice(0, 1))).toBe(false);
    expect(endsAttempts(JOURNAL)).toBe(true);
  });
});

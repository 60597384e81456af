import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Fact, FactType } from '../core/decider/fact.ts';
import { compileDefinition } from '../core/definition/compile.ts';
import { EXECUTION_EVENTS } from '../protocol/event.ts';
import type { OutboxRow } from '../store/delivery-port.ts';
import { envelopesOf } from './execution-envelope.ts';

const AT = Date.UTC(2026, 1, 10, 12, 34, 56);
const EVENT_ID = '0190a5c0-0000-7000-8000-000000000009';
const error = { code: 'HTTP_STATUS', message: 'it answered 500' };
const toldError = { ...error, category: 'REMOTE' };

const plan = (() => {
  const nodes = [
    { id: 'call', actionType: 'core.echo', parameters: {}, edges: [{ targetNode: 'other' }] },
    { id: 'other', actionType: 'core.echo', parameters: {}, edges: [] },
  ];
  const compiled = compileDefinition({ id: 'w', displayName: 'w', startNode: 'call', nodes });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.plan;
})();

function row(facts: Fact[], changes: Partial<OutboxRow> = {}): OutboxRow {
  return {
    executionId: 'r-1',
    runId: 'r-1',
    seq: 7,
    at: AT,
    tenantId: 't',
    workflowId: 'w',
    version: 3,
    projectId: 'p',
    environmentId: 'e',
    correlationId: 'c',
    reopens: 0,
    driver: null,
    engineRunRef: null,
    facts: JSON.stringify(facts),
    ...changes,
  };
}

const told = (fact: Fact, changes: Partial<OutboxRow> = {}) =>
  envelopesOf(row([fact], changes), plan, () => EVENT_ID)[0]?.event ?? null;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Every fact; null: the fact is not published. */
const CASES: Record<FactType, readonly [Fact, string | null, object][]> = {
  ExecutionStarted: [
    [
      { type: 'ExecutionStarted', deadline: AT },
      'RunStarted',
      { reopened: false, deadline: '2026-02-10T12:34:56.000Z' },
    ],
    [{ type: 'ExecutionStarted', deadline: null }, 'RunStarted', { reopened: false }],
  ],
  ExecutionCompensating: [
    [{ type: 'ExecutionCompensating', outcome: 'Failed', error, nodes: [0], until: AT }, null, {}],
  ],
  EventsAwaited: [[{ type: 'EventsAwaited', node: 0, subscriptions: [] }, null, {}]],
  EventReceived: [[{ type: 'EventReceived', node: 0, by: 'callback', data: 1 }, null, {}]],
  NodesExpanded: [[{ type: 'NodesExpanded', node: 0, items: [0] }, null, {}]],
  ItemFinished: [[{ type: 'ItemFinished', node: 0, item: 0, bytes: 2 }, null, {}]],
  ExecutionReopened: [[{ type: 'ExecutionReopened', generation: 2, deadline: null }, 'RunStarted', { reopened: true }]],
  ExecutionSucceeded: [[{ type: 'ExecutionSucceeded', outputs: { secret: 1 } }, 'RunCompleted', {}]],
  ExecutionFailed: [
    [
      { type: 'ExecutionFailed', error: { ...error, nodeId: 'call' } },
      'RunFailed',
      { timedOut: false, error: { ...toldError, stepId: 'call' } },
    ],
  ],
  ExecutionTimedOut: [[{ type: 'ExecutionTimedOut', error }, 'RunFailed', { timedOut: true, error: toldError }]],
  ExecutionCancelled: [[{ type: 'ExecutionCancelled', error }, 'RunCancelled', { error: toldError }]],
  NodeStarted: [
    [{ type: 'NodeStarted', node: 0, attempt: 1 }, 'StepStarted', { stepType: 'core.echo' }],
    [{ type: 'NodeStarted', node: 0, attempt: 1, childId: 'r-2' }, 'StepStarted', { childRunId: 'r-2' }],
  ],
  NodeSleeping: [
    [
      { type: 'NodeSleeping', node: 0, attempt: 1, until: AT },
      'StepStarted',
      { waitsFor: 'timer', until: '2026-02-10T12:34:56.000Z' },
    ],
  ],
  NodeWaiting: [
    [
      { type: 'NodeWaiting', node: 0, attempt: 1, kind: 'webhook', until: null },
      'StepStarted',
      { waitsFor: 'webhook' },
    ],
    [{ type: 'NodeWaiting', node: 0, attempt: 1, kind: 'webhook', until: AT }, 'StepStarted', { waitsFor: 'webhook' }],
    [{ type: 'NodeWaiting', node: 0, attempt: 1, kind: 'child', until: null }, null, {}],
  ],
  NodeSucceeded: [
    [{ type: 'NodeSucceeded', node: 0, attempt: 2, outputs: null, bytes: 44 }, 'StepCompleted', { outputBytes: 44 }],
  ],
  NodeFailed: [
    [
      { type: 'NodeFailed', node: 0, attempt: 1, error },
      'StepFailed',
      { error: toldError, timedOut: false, cancelled: false },
    ],
  ],
  NodeTimedOut: [[{ type: 'NodeTimedOut', node: 0, attempt: 1, error }, 'StepFailed', { timedOut: true }]],
  NodeCancelled: [
    [{ type: 'NodeCancelled', node: 0, attempt: 1, error }, 'StepFailed', { cancelled: true }],
    [{ type: 'NodeCancelled', node: 0, attempt: 1, error, betweenAttempts: true }, null, {}],
  ],
  RetryScheduled: [
    [
      { type: 'RetryScheduled', node: 0, attempt: 1, error, until: AT },
      'StepFailed',
      { retryAt: '2026-02-10T12:34:56.000Z', timedOut: false },
    ],
    [
      { type: 'RetryScheduled', node: 0, attempt: 1, error, until: AT, timedOut: true },
      'StepFailed',
      { timedOut: true },
    ],
  ],
  NodeSkipped: [[{ type: 'NodeSkipped', node: 0, reason: 'cancelled' }, null, {}]],
  EdgesResolved: [[{ type: 'EdgesResolved', satisfied: [], unsatisfied: [] }, null, {}]],
  WebhookBuffered: [[{ type: 'WebhookBuffered', node: 0, payload: {} }, null, {}]],
  SignalApplied: [
    [{ type: 'SignalApplied', signalId: 's', signal: 'PAUSE', payload: {} }, null, {}],
    [
      { type: 'SignalApplied', signalId: 's', signal: 'ESCALATE_ALERT', payload: { level: 'HIGH', note: 'look' } },
      'AlertEscalated',
      { signalId: 's', level: 'HIGH', note: 'look' },
    ],
    [
      { type: 'SignalApplied', signalId: 's', signal: 'ESCALATE_ALERT', payload: { level: 'LOW' }, refused: 'over' },
      null,
      {},
    ],
  ],
  ExecutionPaused: [[{ type: 'ExecutionPaused' }, null, {}]],
  ExecutionResumed: [[{ type: 'ExecutionResumed' }, null, {}]],
  ExecutionStopping: [[{ type: 'ExecutionStopping', outcome: 'Failed', error, graceUntil: AT }, null, {}]],
  NodesReset: [[{ type: 'NodesReset', nodes: [0] }, null, {}]],
  Warning: [[{ type: 'Warning', code: 'W', message: 'm' }, null, {}]],
};

describe.each(Object.entries(CASES))('the fact %s', (_type, cases) => {
  it.each(cases)('the fact %j becomes the event %s', (fact, eventType, payload) => {
    const event = told(fact);
    if (eventType === null) return expect(event).toBe(null);
    expect(event).toMatchObject({ eventType, payload });
    const schema = EXECUTION_EVENTS[eventType as keyof typeof EXECUTION_EVENTS];
    expect(schema.safeParse(event).error).toBe(undefined);
  });
});

describe('an event', () => {
  it('an event of a step has the envelope of Appendix A, and a key of its parts', () => {
    expect(told({ type: 'NodeSucceeded', node: 1, attempt: 2, outputs: null, bytes: 3 })).toEqual({
      schemaVersion: 'v1',
      eventId: EVENT_ID,
      eventType: 'StepCompleted',
      occurredAt: '2026-02-10T12:34:56.000Z',
      tenantId: 't',
      projectId: 'p',
      environmentId: 'e',
      runId: 'r-1',
      attemptId: '2',
      stepId: 'other',
      idempotencyKey: sha256('r-1|other|2|stepcompleted|3'),
      driver: 'native',
      engineRunRef: { provider: 'native', executionId: 'r-1' },
      sequence: 7,
      workflowId: 'w',
      planVersion: 3,
      correlationId: 'c',
      payload: { stepType: 'core.echo', outputBytes: 3 },
    });
  });

  it('an event of another engine names the engine, and its run once there is one', () => {
    const fact: Fact = { type: 'ExecutionStarted', deadline: null };
    const ref = { provider: 'temporal', namespace: 'n', workflowId: 'pawl/r-1/1' };
    const run = told(fact, { driver: 'temporal', engineRunRef: JSON.stringify(ref) });
    expect(run).toMatchObject({ driver: 'temporal', engineRunRef: ref });
    const waiting = told(fact, { driver: 'conductor' });
    expect(waiting).toMatchObject({ driver: 'conductor', engineRunRef: { provider: 'conductor', executionId: 'r-1' } });
    for (const event of [run, waiting]) expect(EXECUTION_EVENTS.RunStarted.safeParse(event).success).toBe(true);
  });

  it('an event of a run has no step in its key, and counts its reopenings in attemptId', () => {
    const first = told({ type: 'ExecutionFailed', error });
    expect(first).toMatchObject({ attemptId: '1', idempotencyKey: sha256('r-1||1|runfailed|3') });
    expect(first).not.toHaveProperty('stepId');
    const second = told({ type: 'ExecutionFailed', error }, { reopens: 1 });
    expect(second).toMatchObject({ attemptId: '2', idempotencyKey: sha256('r-1||2|runfailed|3') });
    expect(told({ type: 'ExecutionReopened', generation: 1, deadline: null })).toMatchObject({
      attemptId: '2',
      idempotencyKey: sha256('r-1||2|runstarted|3'),
    });
  });

  it('an event of a run without a deadline has no deadline', () => {
    expect(told({ type: 'ExecutionStarted', deadline: null })!.payload).toEqual({ reopened: false });
  });

  it('an event has the place of its fact as its sequence', () => {
    const facts: Fact[] = [
      { type: 'NodeSucceeded', node: 0, attempt: 1, outputs: null, bytes: 2 },
      { type: 'EdgesResolved', satisfied: [0], unsatisfied: [] },
      { type: 'NodeStarted', node: 1, attempt: 1 },
    ];
    const envelopes = envelopesOf(row(facts), plan, () => EVENT_ID);
    expect(envelopes.map(({ eventType, sequence }) => [eventType, sequence])).toEqual([
      ['StepCompleted', 7],
      ['StepStarted', 9],
    ]);
  });

  it('an event of an execution whose plan is gone names its steps by number', () => {
    const [envelope] = envelopesOf(row([{ type: 'NodeStarted', node: 4, attempt: 1 }]), null, () => EVENT_ID);
    expect(envelope!.event).toMatchObject({ stepId: '#4', payload: { stepType: 'unknown' } });
  });
});

it('an event hides a callback token that an error message contains', () => {
  const message = `https://pawl.example/wh/${'0'.repeat(32)}.YQ.${'x'.repeat(24)} answered 404`;
  const fact: Fact = { type: 'ExecutionFailed', error: { code: 'HTTP_STATUS', message } };
  expect(told(fact)).toMatchObject({
    payload: { error: { message: 'https://pawl.example/wh/hidden-callback-token answered 404' } },
  });
});

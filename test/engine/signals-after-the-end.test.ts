import { describe, expect, it } from 'vitest';
import type { SignalType } from '../../src/core/decider/signal-type.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import { TerminalError } from '../../src/main.ts';
import { engineUnderTest, eventually, TENANT } from './engine-under-test.ts';
import { graph, held, tries } from './workflow-definition.ts';

const engine = engineUnderTest();
const { work } = engine;
let signals = 0;

function send(executionId: string, type: SignalType, payload: JsonObject = {}, signalId = `signal-${++signals}`) {
  return engine.pawl.executions.signal(TENANT, executionId, { signalId, type, payload });
}

const status = async (executionId: string) => (await engine.pawl.executions.get(TENANT, executionId)).status;
const applied = async (executionId: string) =>
  (await engine.facts(executionId)).filter((fact) => fact.type === 'SignalApplied');

describe('a signal accepted at the moment the execution ends', () => {
  it('a signal accepted too late is listed as ignored, right before the end of the execution', async () => {
    const executionId = await engine.start(graph('too-late', [held('first')]));
    const first = await work.next('first');
    await send(executionId, 'PAUSE');
    await eventually(() => applied(executionId)).toHaveLength(1);
    await send(executionId, 'RESUME');
    await eventually(() => applied(executionId)).toHaveLength(2);
    // A signal that the last decision did not see, as it looks when its mail has been thrown away.
    const mail = { kind: 'signal', signalId: 'late', signal: 'PAUSE', payload: { reason: 'lunch' } };
    await engine.sql(
      'insert into execution_signals (execution_id, signal_id, tenant_id, body) values ($1, $2, $3, $4::json)',
      [executionId, 'PAUSE:late', TENANT, JSON.stringify(mail)],
    );
    const events = async () => {
      const view = await engine.pawl.queries.get(TENANT, executionId);
      return (await engine.pawl.queries.events(view, { afterSeq: -1, limit: 100 })).events;
    };
    const { signalId, signal, payload } = mail;
    const late = { type: 'SignalApplied', level: 'Warn', data: expect.objectContaining({ signalId: 'late' }) };
    expect(await events()).not.toContainEqual(expect.objectContaining(late));
    first.succeed();
    await engine.pawl.result(executionId);
    const told = await events();
    const [ignored, end] = told.slice(-2);
    expect(end).toMatchObject({ type: 'ExecutionSucceeded', seq: ignored?.seq });
    const refused = 'ignored: the execution had ended';
    expect(ignored).toMatchObject({ ...late, data: { signalId, signal, payload, refused } });
    expect(told.filter(({ type }) => type === 'SignalApplied')).toHaveLength(3);
    const view = await engine.pawl.queries.get(TENANT, executionId);
    expect(await engine.pawl.queries.events(view, { afterSeq: end!.seq, limit: 100 })).toEqual({
      events: [],
      more: false,
    });
  });
});

describe('the events of an ended execution', () => {
  it('events of an ended execution can be read although they hold U+0000 and half surrogates', async () => {
    const executionId = await engine.start(graph('strange-signal', [held('first', tries(1))]));
    const first = await work.next('first');
    const newParams = { nul: 'x\u0000y', half: '\ud800' };
    await send(executionId, 'UPDATE_PARAMS', { stepId: 'first', newParams }, 'a "strange" \\ id');
    await eventually(() => applied(executionId)).toHaveLength(1);
    first.fail(new TerminalError('NO', 'a\u0000b'));
    await engine.pawl.result(executionId);
    const view = await engine.pawl.queries.get(TENANT, executionId);
    const { events } = await engine.pawl.queries.events(view, { afterSeq: -1, limit: 100 });
    expect(events.filter(({ type }) => type === 'SignalApplied')).toMatchObject([{ data: { payload: { newParams } } }]);
  });
});

describe('what an ended execution is told', () => {
  it('a signal to a failed execution takes effect once, at its next retry; until then it stays Failed', async () => {
    const definition = graph('mended', [held('call', { parameters: { region: 'eu', mode: 'plain' }, ...tries(1) })]);
    const executionId = await engine.start(definition);
    (await work.next()).fail(new TerminalError('NO', 'wrong region'));
    await engine.pawl.result(executionId);
    const update = { stepId: 'call', newParams: { region: 'us' } };
    expect(await send(executionId, 'UPDATE_PARAMS', update, 'mend')).toEqual({ repeated: false });
    await eventually(() => status(executionId)).toBe('Failed');
    expect(await send(executionId, 'UPDATE_PARAMS', update, 'mend')).toEqual({ repeated: true });
    await send(executionId, 'INJECT_OVERRIDE', { stepId: 'call', override: { mode: 'special' } });
    await eventually(() => applied(executionId)).toHaveLength(2);
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Failed', error: { code: 'NO' } });

    await engine.pawl.executions.retry(TENANT, executionId);
    const again = await work.next();
    expect(again.params).toEqual({ region: 'us', mode: 'special' });
    again.succeed();
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
  });

  it('a signal to a succeeded execution takes effect when a step runs again; until then the result stays', async () => {
    const executionId = await engine.start(graph('improved', [held('call', { parameters: { region: 'eu' } })]));
    (await work.next()).succeed({ from: 'eu' });
    const result = await engine.pawl.result(executionId);
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { from: 'eu' } });
    await send(executionId, 'INJECT_OVERRIDE', { stepId: 'call', override: { region: 'us' } });
    await eventually(() => applied(executionId)).toHaveLength(1);
    expect(await engine.pawl.result(executionId)).toEqual(result);
    await send(executionId, 'RERUN_FROM', { stepId: 'call' });
    const again = await work.next();
    expect(again.params).toEqual({ region: 'us' });
    again.succeed({ from: 'us' });
    await eventually(() => engine.pawl.result(executionId)).toMatchObject({ outputs: { from: 'us' } });
  });
});

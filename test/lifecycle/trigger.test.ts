import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { tokenFor, useServer } from '../server/api-server.ts';
import { loan, loanCalls } from './lifecycle-server.ts';

const server = useServer();
const { importLoan, trigger, instance, timeline } = loanCalls(server);
const INSTANCES = '/api/v1/lifecycles/prod/loan/instances';

beforeAll(async () => {
  await importLoan();
});

describe('a trigger of a lifecycle', () => {
  it('a trigger creates the instance and moves it', async () => {
    const { status, body } = await trigger('first', 'submit', { actor: 'ada', payload: { amount: 5 } });
    expect({ status, body }).toMatchObject({ status: 200, body: { applied: true, from: 'draft', to: 'submitted' } });
    const found = await instance('first');
    expect(found).toEqual({
      instanceId: body.instanceId,
      externalRef: 'first',
      env: 'prod',
      definition: 'loan',
      version: 1,
      state: 'submitted',
      final: false,
      stateSince: expect.any(String),
      timeoutAt: expect.any(String),
    });
    const timeoutMs = Date.parse(found.timeoutAt as string) - Date.parse(found.stateSince as string);
    expect(timeoutMs).toBe(48 * 3_600_000);
    expect(await timeline('first')).toEqual([
      {
        at: found.stateSince,
        kind: 'transition',
        event: 'submit',
        from: 'draft',
        to: 'submitted',
        actor: 'ada',
        requestId: expect.any(String),
        payload: { amount: 5 },
        cause: { type: 'trigger' },
      },
    ]);
  });

  it('a trigger or note without an actor has the caller as its actor', async () => {
    const token = await tokenFor({ subject: 'grace' });
    await trigger('unsigned', 'submit', {}, { token });
    await trigger('unsigned', 'remind', { actor: 'ada' }, { token });
    const note = { activity: 'call the customer', status: 'reached' };
    await server.post(`${INSTANCES}/unsigned/activities`, note, { token });
    expect((await timeline('unsigned')).map(({ actor }) => actor)).toEqual(['grace', 'ada', 'grace']);
  });

  it('a trigger accepts the name, the id or the code of an event', async () => {
    await trigger('by-code', 1001);
    expect(await trigger('by-code', '1003')).toMatchObject({ body: { applied: true, to: 'approved' } });
    const { body } = await server.get(`${INSTANCES}/by-code/timeline`);
    expect((body.data as JsonObject[]).map(({ event }) => event)).toEqual(['submit', 'approve']);
    expect((await instance('by-code')).final).toBe(true);
  });

  it('a trigger with an applied requestId answers as the first time and changes nothing', async () => {
    const request = { requestId: 'once' };
    const first = await trigger('repeated', 'submit', request);
    await trigger('repeated', 'approve');
    const again = await trigger('repeated', 'submit', request);
    expect(again).toMatchObject({
      status: 200,
      body: { applied: false, notice: 'DuplicateRequest', from: 'draft', to: 'submitted' },
    });
    expect(again.body.instanceId).toBe(first.body.instanceId);
    expect(await timeline('repeated')).toHaveLength(2);
    // Each instance has its own requestIds.
    expect(await trigger('another', 'submit', request)).toMatchObject({ body: { applied: true } });
  });

  it('a requestId that begins with "pawl:" is refused, because it could block a timeout', async () => {
    expect(await trigger('impostor', 'submit', { requestId: 'pawl:timeout:1:1' })).toMatchObject({
      status: 400,
      body: { error: { code: 'REQUEST_INVALID', message: expect.stringContaining('must not begin with "pawl:"') } },
    });
  });

  it('a trigger to the current state is no error', async () => {
    await trigger('there', 'submit');
    await trigger('there', 'approve');
    expect(await trigger('there', 'approve')).toMatchObject({
      status: 200,
      body: { applied: false, notice: 'NoOpAlreadyInState', from: 'approved', to: 'approved' },
    });
  });

  it('a trigger to the current state uses up its requestId', async () => {
    const states = { a: {}, b: {} };
    const transitions = [
      { from: 'a', on: 'go', to: 'b' },
      { from: 'b', on: 'back', to: 'a' },
    ];
    const definition = { env: 'prod', name: 'swing', initial: 'a', states, events: { go: {}, back: {} }, transitions };
    await server.post('/api/v1/lifecycles', { definition });
    const base = '/api/v1/lifecycles/prod/swing';
    const send = (event: string, requestId: string) =>
      server.post(`${base}/trigger`, { externalRef: 's', event, requestId });
    await send('go', 'r1');
    expect(await send('go', 'r2')).toMatchObject({ body: { applied: false, notice: 'NoOpAlreadyInState', to: 'b' } });
    await send('back', 'r3');
    expect(await send('go', 'r2')).toMatchObject({
      status: 200,
      body: { applied: false, notice: 'DuplicateRequest', from: 'b', to: 'b' },
    });
    expect((await server.get(`${base}/instances/s`)).body).toMatchObject({ state: 'a' });
    const { data } = (await server.get(`${base}/instances/s/timeline`)).body as { data: JsonObject[] };
    expect(data.map(({ event }) => event)).toEqual(['go', 'back']);
  });

  it('a trigger that the state does not allow is refused, and its requestId can be used again', async () => {
    const request = { requestId: 'rejected' };
    expect(await trigger('too-early', 'approve', request)).toMatchObject({
      status: 409,
      body: { error: { code: 'TRANSITION_REJECTED', message: expect.stringContaining('it allows `submit`') } },
    });
    expect(await server.get(`${INSTANCES}/too-early`)).toMatchObject({
      status: 404,
      body: { error: { code: 'INSTANCE_NOT_FOUND' } },
    });
    await trigger('too-early', 'submit');
    expect(await trigger('too-early', 'approve', request)).toMatchObject({ body: { applied: true } });
    expect(await trigger('too-early', 'aprove')).toMatchObject({
      status: 409,
      body: { error: { code: 'TRANSITION_REJECTED', message: expect.stringContaining('did you mean `approve`?') } },
    });
  });

  it('a trigger accepts any printable reference', async () => {
    for (const ref of ['Ünïcode 承認', 'a/b?c#d%e', "o'brien; drop table", '🙂'.repeat(60)]) {
      expect(await trigger(ref, 'submit')).toMatchObject({ body: { applied: true } });
      expect(await instance(ref)).toMatchObject({ externalRef: ref, state: 'submitted' });
    }
  });

  it.each<[string, JsonObject]>([
    ['no requestId', { externalRef: 'x', event: 'submit' }],
    ['no externalRef', { requestId: 'r', event: 'submit' }],
    ['no event', { externalRef: 'x', requestId: 'r' }],
    ['an externalRef that is too long', { externalRef: 'x'.repeat(256), event: 'submit', requestId: 'r' }],
    ['an externalRef that cannot be shown', { externalRef: 'a\u0000b', event: 'submit', requestId: 'r' }],
    ['an externalRef that no address can hold', { externalRef: '..', event: 'submit', requestId: 'r' }],
    ['an event that is none', { externalRef: 'x', event: { name: 'submit' }, requestId: 'r' }],
    ['a field that nobody knows', { externalRef: 'x', event: 'submit', requestId: 'r', payloud: 1 }],
  ])('a trigger with %s is refused', async (_, body) => {
    expect(await server.post('/api/v1/lifecycles/prod/loan/trigger', body)).toMatchObject({
      status: 400,
      body: { error: { code: 'REQUEST_INVALID' } },
    });
  });

  it.each([
    [{}, 'is required'],
    [{ event: null }, 'is required'],
    [{ event: 1.5 }, 'must be the name, id or code of an event'],
  ])('a trigger with the event %j is refused with the reason', async (given, message) => {
    const body = { externalRef: 'x', requestId: 'r', ...given };
    expect((await server.post('/api/v1/lifecycles/prod/loan/trigger', body)).body).toMatchObject({
      error: { details: [{ path: '/event', message }] },
    });
  });

  it('a trigger of an unknown lifecycle is answered with 404', async () => {
    const body = { externalRef: 'x', event: 'submit', requestId: 'r' };
    for (const place of ['prod/lone', 'test/loan', 'pr%20od/loan']) {
      const answer = await server.post(`/api/v1/lifecycles/${place}/trigger`, body);
      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'LIFECYCLE_NOT_FOUND' } } });
    }
  });
});

describe('triggers at the same time', () => {
  it('fifty equal triggers at once are applied once', async () => {
    const body = { externalRef: 'race', event: 'submit', requestId: 'the-same' };
    const path = '/api/v1/lifecycles/prod/loan/trigger';
    const answers = await Promise.all(Array.from({ length: 50 }, () => server.post(path, body)));
    expect(answers.filter((answer) => answer.status !== 200)).toEqual([]);
    const applied = answers.filter((answer) => answer.body.applied === true);
    expect(applied).toHaveLength(1);
    const others = answers.filter((answer) => answer.body.applied !== true);
    for (const other of others) {
      const { instanceId } = applied[0]!.body;
      expect(other.body).toEqual({
        applied: false,
        notice: 'DuplicateRequest',
        instanceId,
        from: 'draft',
        to: 'submitted',
      });
    }
    expect(await timeline('race')).toHaveLength(1);
  });

  it('two triggers at once never both apply to the same state', async () => {
    const refs = Array.from({ length: 25 }, (_, index) => `contested-${index}`);
    await Promise.all(refs.map((ref) => trigger(ref, 'submit')));
    for (const ref of refs) {
      const answers = await Promise.all([trigger(ref, 'approve'), trigger(ref, 'reject'), trigger(ref, 'remind')]);
      const ends = answers.slice(0, 2).filter(({ body }) => body.applied === true);
      expect(ends).toHaveLength(1);
      const moves = await timeline(ref);
      const { to } = ends[0]!.body;
      expect((await instance(ref)).state).toBe(to);
      // Each entry begins in the state where the one before it ended.
      for (const [index, move] of moves.entries()) expect(move.from).toBe(moves[index - 1]?.to ?? 'draft');
      expect(moves.at(-1)!.to).toBe(to);
    }
  });
});

describe('instances of a lifecycle', () => {
  it('instances are listed page by page, by state or all', async () => {
    await server.post('/api/v1/lifecycles', { definition: { ...loan(), name: 'listed' } });
    const base = '/api/v1/lifecycles/prod/listed';
    const refs = ['a b', 'a/b', 'ä', 'z'];
    for (const externalRef of refs) {
      await server.post(`${base}/trigger`, { externalRef, event: 'submit', requestId: 'r' });
    }
    await server.post(`${base}/trigger`, { externalRef: 'z', event: 'approve', requestId: 'r2' });
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await server.get(`${base}/instances?limit=2${cursor}`);
      seen.push(...(body.data as JsonObject[]).map(({ externalRef }) => externalRef as string));
      if (body.nextCursor === undefined) break;
      cursor = `&cursor=${body.nextCursor as string}`;
    }
    expect(seen).toHaveLength(4);
    expect(new Set(seen)).toEqual(new Set(refs));
    const { body } = await server.get(`${base}/instances?state=approved`);
    expect((body.data as JsonObject[]).map(({ externalRef }) => externalRef)).toEqual(['z']);
    const after = await server.get(`${base}/instances?after=${encodeURIComponent(seen[2]!)}`);
    expect((after.body.data as JsonObject[]).map(({ externalRef }) => externalRef)).toEqual([seen[3]]);
    expect((await server.get(`${base}/instances?cursor=garbage`)).status).toBe(400);
    expect(await server.get('/api/v1/lifecycles/prod/nothing/instances')).toMatchObject({ status: 404 });
  });

  it('an instance carries the notes of the application', async () => {
    await trigger('noted', 'submit');
    const note = { activity: 'call the customer', status: 'reached', actor: 'eve', payload: { minutes: 3 } };
    const added = await server.post(`${INSTANCES}/noted/activities`, note);
    expect(added).toMatchObject({ status: 201, body: { activityId: expect.any(String) } });
    const { activity, status, actor, payload } = note;
    expect((await timeline('noted')).at(-1)).toEqual({
      at: expect.any(String),
      kind: 'activity',
      activity,
      status,
      actor,
      payload,
    });
    expect(await instance('noted')).toMatchObject({ state: 'submitted' });
    expect(await server.post(`${INSTANCES}/nobody/activities`, note)).toMatchObject({ status: 404 });
    expect(await server.post(`${INSTANCES}/noted/activities`, { activity: 'x' })).toMatchObject({ status: 400 });
  });

  it('an instance is created once in its initial state without an event, and goes on from there', async () => {
    const created = await server.post(INSTANCES, { externalRef: 'quiet', actor: 'eve', payload: { by: 'import' } });
    expect(created).toMatchObject({ status: 201, body: { externalRef: 'quiet', state: 'draft', final: false } });
    const again = await server.post(INSTANCES, { externalRef: 'quiet' });
    expect(again).toMatchObject({ status: 200, body: { instanceId: created.body.instanceId } });
    expect(await timeline('quiet')).toEqual([
      {
        at: expect.any(String),
        kind: 'activity',
        activity: 'created',
        status: 'draft',
        actor: 'eve',
        payload: { by: 'import' },
      },
    ]);
    expect(await trigger('quiet', 'submit')).toMatchObject({ body: { applied: true, from: 'draft', to: 'submitted' } });
    expect((await instance('quiet')).instanceId).toBe(created.body.instanceId);
    const nowhere = '/api/v1/lifecycles/prod/nothing/instances';
    expect(await server.post(nowhere, { externalRef: 'x' })).toMatchObject({ status: 404 });
  });

  it('an instance created without an event times out of its initial state', async () => {
    const definition = {
      env: 'prod',
      name: 'reservation',
      initial: 'open',
      states: { open: { timeout: { after: '1ms', event: 'expire' } }, expired: { final: true } },
      events: { expire: { code: 1 } },
      transitions: [{ from: 'open', on: 'expire', to: 'expired' }],
    };
    expect(await server.post('/api/v1/lifecycles', { definition })).toMatchObject({ body: { version: 1 } });
    const base = '/api/v1/lifecycles/prod/reservation/instances';
    expect(await server.post(base, { externalRef: 'r1' })).toMatchObject({
      status: 201,
      body: { timeoutAt: expect.any(String) },
    });
    await expect.poll(async () => (await server.get(`${base}/r1`)).body.state).toBe('expired');
  });

  it('the timeline of an instance comes in pages', async () => {
    await trigger('long', 'submit');
    for (let count = 0; count < 4; count++) await trigger('long', 'remind');
    const first = await server.get(`${INSTANCES}/long/timeline?limit=3`);
    expect((first.body.data as JsonObject[]).map(({ event }) => event)).toEqual(['submit', 'remind', 'remind']);
    const next = await server.get(`${INSTANCES}/long/timeline?limit=3&cursor=${first.body.nextCursor as string}`);
    expect(next.body.data).toHaveLength(2);
    expect(next.body.nextCursor).toBeUndefined();
    expect(await server.get(`${INSTANCES}/long/timeline?cursor=x`)).toMatchObject({ status: 400 });
  });
});

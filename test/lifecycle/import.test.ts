import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';
import { loan, loanCalls, loanPolicies } from './lifecycle-server.ts';

const server = useServer();
const { importLoan, trigger, instance } = loanCalls(server);
const BASE = '/api/v1/lifecycles';

beforeAll(async () => {
  expect(await importLoan()).toMatchObject({
    status: 201,
    body: { env: 'prod', name: 'loan', version: 1, changed: true },
  });
});

describe('importing a lifecycle', () => {
  it('importing the same lifecycle again changes nothing, whatever the order of keys', async () => {
    const reversed = Object.fromEntries(Object.entries(loan()).reverse());
    const answer = await server.post(BASE, { definition: reversed, policies: loanPolicies() });
    expect(answer).toMatchObject({ status: 200, body: { version: 1, changed: false } });
  });

  it('importing an empty list of policies is the same as importing none', async () => {
    const definition = { ...loan(), name: 'bare' };
    expect((await server.post(BASE, { definition })).status).toBe(201);
    const policies = { env: 'prod', definition: 'bare', policies: [] };
    const again = await server.post(BASE, { definition, policies });
    expect(again).toMatchObject({ status: 200, body: { version: 1, changed: false } });
  });

  it('importing warns of a workflow in the policies that is missing or cannot be started', async () => {
    const at = '/policies/policies/0/routes/1/workflow';
    const warningsOf = async () => (await importLoan()).body.warnings;
    expect(await warningsOf()).toMatchObject([
      { code: 'WORKFLOW_MISSING', path: at, message: 'there is no workflow `notify-underwriter`' },
    ]);
    await server.pawl.publish(chain('notify-underwriter', echo('note')), { tenantId: 'acme' });
    expect(await warningsOf()).toBeUndefined();
    await server.ask('PATCH', '/api/v1/workflows/notify-underwriter', { body: { isEnabled: false } });
    expect(await warningsOf()).toMatchObject([{ code: 'WORKFLOW_NOT_ACTIVE', path: at }]);
  });

  it('twenty imports of one change at once make one version', async () => {
    const change = { definition: { ...loan(), name: 'crowd' } };
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.post(BASE, change)));
    expect(answers.map(({ body }) => body.version)).toEqual(answers.map(() => 1));
    expect(answers.filter(({ body }) => body.changed === true)).toHaveLength(1);
  });

  it('importing a change makes a new version, and existing instances stay on the old version', async () => {
    const named = (description: string) =>
      server.post(BASE, { definition: { ...loan(), name: 'versions', description } });
    const start = (externalRef: string) =>
      server.post(`${BASE}/prod/versions/trigger`, { externalRef, event: 'submit', requestId: 'r' });
    await named('first');
    await start('old');
    expect(await named('second')).toMatchObject({ body: { version: 2, changed: true } });
    await start('new');
    const versions = await Promise.all(
      ['old', 'new'].map(async (ref) => (await server.get(`${BASE}/prod/versions/instances/${ref}`)).body.version),
    );
    expect(versions).toEqual([1, 2]);
    expect((await server.get(`${BASE}/prod/versions?version=1`)).body).toMatchObject({
      version: 1,
      newestVersion: 2,
      definition: { description: 'first' },
    });
    expect((await server.get(`${BASE}/prod/versions`)).body.version).toBe(2);
    expect(await server.get(`${BASE}/prod/versions?version=3`)).toMatchObject({
      status: 404,
      body: { error: { code: 'LIFECYCLE_NOT_FOUND' } },
    });
  });

  it('importing an invalid lifecycle reports every problem with its path', async () => {
    const definition = { ...loan(), initial: 'drft', transitions: [...(loan().transitions as []), { from: 'a' }] };
    const policies = { ...loanPolicies(), env: 'test' };
    const { status, body } = await server.post(BASE, { definition, policies });
    expect(status).toBe(400);
    const { code, details } = body.error as JsonObject;
    expect(code).toBe('LIFECYCLE_INVALID');
    expect((details as JsonObject[]).map((problem) => `${problem.code} ${problem.path}`)).toEqual([
      'REQUIRED /definition/transitions/4/on',
      'REQUIRED /definition/transitions/4/to',
      'UNKNOWN_STATE /definition/initial',
      'UNKNOWN_STATE /definition/transitions/4/from',
      'OTHER_LIFECYCLE /policies/env',
    ]);
  });

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['a text', { definition: 'loan' }],
    ['more than both', { definition: {}, policy: {} }],
  ])('importing %s is refused', async (_, body) => {
    expect(await server.post(BASE, body)).toMatchObject({ status: 400, body: { error: { code: 'REQUEST_INVALID' } } });
  });

  it('importing warns of an unused event', async () => {
    const definition = { ...loan(), name: 'odd', events: { ...(loan().events as object), idle: {} } };
    expect(await server.post(BASE, { definition })).toMatchObject({
      status: 201,
      body: { warnings: [{ code: 'UNUSED_EVENT', path: '/definition/events/idle' }] },
    });
  });
});

describe('reading lifecycles', () => {
  it('lifecycles are listed page by page', async () => {
    const names: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await server.get(`${BASE}?limit=1${cursor}`);
      names.push(...(body.data as JsonObject[]).map(({ name }) => name as string));
      if (body.nextCursor === undefined) break;
      cursor = `&cursor=${body.nextCursor as string}`;
    }
    expect(names).toEqual([...new Set(names)].sort());
    expect(names).toContain('loan');
    expect(await server.get(`${BASE}?cursor=AAAA`)).toMatchObject({ status: 400 });
  });

  it('a lifecycle is returned exactly as it was imported', async () => {
    const { body } = await server.get(`${BASE}/prod/loan`);
    expect(body).toMatchObject({ env: 'prod', name: 'loan', version: 1, definition: loan(), policies: loanPolicies() });
  });

  it('the diagram of a lifecycle can mark the state of an instance', async () => {
    await trigger('drawn', 'submit', { payload: { amount: 1 } });
    const svg = await server.get(`${BASE}/prod/loan/diagram.svg?externalRef=drawn`);
    expect(svg.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(svg.body).toMatch(/class="state current"><rect[^>]*\/><text[^>]*>submitted</);
    const mermaid = await server.get(`${BASE}/prod/loan/diagram.mmd`);
    expect(mermaid.body).toMatch(/^stateDiagram-v2\n/);
    expect(await server.get(`${BASE}/prod/loan/diagram.svg?externalRef=nobody`)).toMatchObject({ status: 404 });
  });

  it('a lifecycle is visible to its own tenant only', async () => {
    const token = await tokenFor({ tenant: 'globex' });
    expect(await server.get(`${BASE}/prod/loan`, { token })).toMatchObject({ status: 404 });
    expect((await server.get(BASE, { token })).body).toEqual({ data: [] });
    // Another tenant can use the same names, which lead to other instances.
    expect(await importLoan({}, { token })).toMatchObject({ body: { version: 1, changed: true } });
    await trigger('mine', 'submit');
    expect(await server.get(`${BASE}/prod/loan/instances/mine`, { token })).toMatchObject({ status: 404 });
    expect(await instance('mine')).toMatchObject({ state: 'submitted' });
  });
});

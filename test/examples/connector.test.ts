// The connector of docs/write-a-connector.md, run as a user would run it, and a comparison of the guide's code with the example
// file.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { githubActions } from '../../examples/connector/github.ts';
import { expectFailure, expectSuccess } from '../../src/action/attempt.testing.ts';
import { loadUserActions } from '../../src/action/user/user-actions.ts';
import { createPawl } from '../../src/main.ts';
import { pawl as runPawl } from '../cli/dev-process.ts';
import { attemptsOf } from '../standin/attempts.ts';
import { httpStandin } from '../standin/http-standin.ts';
import { testDatabase } from '../support/database.ts';

const TOKEN = 'ghp-canary-4f2a9c';
const issues: { number: number; html_url: string; title: string; body: string }[] = [];

const github = await httpStandin(({ method, url, headers, body }) => {
  if (headers.authorization !== `Bearer ${TOKEN}`) return { status: 401, body: { message: 'Bad credentials' } };
  if (url.pathname !== '/repos/acme/shop/issues') return { status: 404, body: { message: 'Not Found' } };
  if (method === 'GET') return { status: 200, body: issues.toReversed() };
  const number = issues.length + 1;
  const made = { number, html_url: `https://github.com/acme/shop/issues/${number}`, ...JSON.parse(body) };
  issues.push(made);
  return { status: 201, body: made };
});
const attempts = attemptsOf(githubActions({ baseUrl: github.url }), { github: TOKEN });
const bug = { repository: 'acme/shop', title: 'It is broken', body: 'Really' };
const create = (parameters: typeof bug, context = {}) => attempts.run('github.create-issue', parameters, context);

beforeEach(() => {
  issues.length = 0;
});
afterAll(async () => {
  await attempts.close();
  await github.close();
});

describe('a connector of your own', () => {
  it('the connector opens an issue and links it', async () => {
    const url = 'https://github.com/acme/shop/issues/1';
    const { outputs, resourceLinks } = expectSuccess(await create(bug));
    expect(outputs).toEqual({ number: 1, url });
    expect(resourceLinks).toEqual([{ system: 'github', resourceType: 'issue', resourceId: 'acme/shop#1', url }]);
    expect(github.requests[0]?.headers).toMatchObject({
      'x-acting-user-id': 'U1',
      'x-correlation-id': 'correlation-1',
    });
  });

  it('the connector does not open an issue twice when the answer is lost', async () => {
    github.inject({ kind: 'loseAnswer' });
    expect(expectFailure(await create(bug)).retryable).toBe(true);
    expectSuccess(await create(bug, { attempt: 2 }));
    expect(issues).toHaveLength(1);
  });

  it('the connector tells failures that are worth a retry from those that are not', async () => {
    const unknown = { ...bug, repository: 'acme/nothing' };
    expect(expectFailure(await create(unknown))).toMatchObject({
      retryable: false,
      error: { code: 'RESOURCE_NOT_FOUND' },
    });
    github.inject({ kind: 'answer', answer: { status: 429, headers: { 'retry-after': '4' }, body: {} } });
    expect(expectFailure(await create(bug))).toMatchObject({ retryable: true, retryAfterMs: 4000 });
  });

  it('the connector is found in a folder of actions, and a workflow runs it', async () => {
    const folder = new URL('../../examples/connector', import.meta.url).pathname;
    expect((await loadUserActions(folder)).map(({ type }) => type)).toEqual(['github.create-issue']);
    vi.stubEnv('CONNECTOR_GITHUB_TOKEN', TOKEN);
    const database = await testDatabase();
    const pawl = await createPawl({
      database: { url: database.connectionString },
      http: { allowLoopback: true },
      actions: githubActions({ baseUrl: github.url }),
    });
    await pawl.publish({
      id: 'report-bug',
      displayName: 'Report a bug',
      startNode: 'open',
      nodes: [{ id: 'open', actionType: 'github.create-issue', parameters: { ...bug, title: '{{ trigger.title }}' } }],
    });
    const { executionId } = await pawl.start('report-bug', { trigger: { title: 'Late' } });
    expect(await pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { number: 1 } });
    expect(issues).toMatchObject([{ title: 'Late' }]);
    await pawl.close();
    await database.drop();
    vi.unstubAllEnvs();
  });
});

describe('docs/write-a-connector.md', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const blocks = [...read('docs/write-a-connector.md').matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!);
  const source = read('examples/connector/github.ts');

  it('the smallest connector of the guide works as the only file of a folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-smallest-'));
    try {
      const [, smallest] = /```js\n([\s\S]*?)```/.exec(read('docs/write-a-connector.md'))!;
      writeFileSync(join(folder, 'greet.ts'), smallest!);
      const node = { id: 'a', actionType: 'demo.greet', parameters: { name: 'Ada' } };
      const flow = { id: 'smallest', displayName: 'Smallest', startNode: 'a', nodes: [node] };
      writeFileSync(join(folder, 'flow.json'), JSON.stringify(flow));
      const { code, stderr } = await runPawl({}, 'validate', join(folder, 'flow.json'), '--actions', folder);
      expect([code, stderr]).toEqual([0, '']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('the guide has more than three code blocks', () => expect(blocks.length).toBeGreaterThan(3));

  it.each(blocks)('the code of the guide is in the example file: %s', (block) => {
    expect(source).toContain(block);
  });
});

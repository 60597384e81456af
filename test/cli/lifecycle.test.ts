// `pawl lifecycle …` against a running `pawl dev`, as a person types it.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/sdk/client.ts';
import { type DevProcess, pawl, startDev } from './dev-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'pawl-lifecycle-'));
const loan = join(import.meta.dirname, '../../examples/lifecycle/loan.json');
const policies = join(import.meta.dirname, '../../examples/lifecycle/loan-policies.json');
let dev: DevProcess;
beforeAll(async () => {
  dev = await startDev(join(folder, 'data'));
});
afterAll(async () => {
  dev.process.kill('SIGINT');
  await dev.exited;
  rmSync(folder, { recursive: true, force: true });
});

const lifecycle = (...args: string[]) => pawl({ PAWL_URL: dev.url }, 'lifecycle', ...args);

describe('pawl lifecycle', () => {
  it('pawl lifecycle imports, triggers, shows and acknowledges', async () => {
    const imported = async () => (await lifecycle('import', loan, '--policies', policies)).stdout.split('\n');
    const warning = expect.stringMatching(
      /^warning\[WORKFLOW_MISSING\]: there is no workflow `notify-underwriter`; publish it/,
    );
    expect(await imported()).toEqual([warning, '✓ prod/loan: version 1', '']);
    expect(await imported()).toEqual([warning, '✓ prod/loan: version 1, unchanged', '']);
    expect((await lifecycle('list')).stdout).toMatch(/^LIFECYCLE +VERSION +IMPORTED\nprod\/loan +1 /);

    const submit = ['trigger', 'prod/loan', 'loan 7/a', 'submit', '--request-id', 'r', '--payload', '{"amount":5000}'];
    expect((await lifecycle(...submit)).stdout).toBe('loan 7/a: draft → submitted\n');
    expect((await lifecycle(...submit)).stdout).toBe('loan 7/a: not applied (DuplicateRequest): draft → submitted\n');

    const shown = await lifecycle('show', 'prod/loan', 'loan 7/a');
    expect(shown.stdout.split('\n').slice(1)).toEqual([
      expect.stringMatching(/^loan 7\/a is in submitted since \S+, timeout at \S+$/),
      '',
      '  draft (initial)',
      '    submit  → submitted',
      '▶ submitted',
      '    remind (every 2d, 3×)  → stays',
      '    approve                → approved',
      '    reject                 → rejected',
      '  approved (final)',
      '  rejected (final)',
      '',
    ]);
    expect((await lifecycle('show', 'prod/loan', '--mermaid')).stdout).toMatch(/^stateDiagram-v2\n/);

    const pending = await lifecycle('deliveries', '--consumer', 'kyc');
    const [, guid] = /^ACKGUID +CONSUMER .*\n(\S+) +kyc +Pending +hook +loan submit +\d /.exec(pending.stdout) ?? [];
    const { deliveries } = createClient({ url: dev.url });
    const [work] = await deliveries.pull('kyc', { wait: '10s' });
    expect(work!.ackGuid).toBe(guid);
    const acked = await lifecycle('ack', work!.ackGuid!, '--consumer', 'kyc', '--json');
    expect(JSON.parse(acked.stdout)).toMatchObject({ stage: 'Processed', changed: true });
    expect((await lifecycle('ack', work!.ackGuid!, '--consumer', 'kyc')).stdout).toBe('Processed (it was before)\n');
    const moves = async () => {
      const { stdout } = await lifecycle('timeline', 'prod/loan', 'loan 7/a', '--json');
      const { data } = JSON.parse(stdout) as { data: { event: string; cause: { type: string } }[] };
      return data.map(({ event, cause }) => [event, cause.type]);
    };
    await expect.poll(moves).toEqual([
      ['submit', 'trigger'],
      ['approve', 'policy'],
    ]);
    expect((await lifecycle('timeline', 'prod/loan', 'loan 7/a')).stdout).toMatch(
      /^AT +WHAT +EVENT +BY +CAUSE +PAYLOAD\n\S+ +draft → submitted +submit +trigger +\{"amount":5000\}\n/,
    );
  });

  it('pawl lifecycle requeue sends a dead delivery again', async () => {
    // Nobody has published the workflow that the loan's policies start.
    const dead = async (): Promise<{ ackGuid: string }[]> =>
      (JSON.parse((await lifecycle('deliveries', '--stage', 'dead', '--json')).stdout) as { data: [] }).data;
    await expect.poll(dead).toHaveLength(1);
    expect((await lifecycle('deliveries', '--stage', 'Dead')).stdout).toContain('no workflow "notify-underwriter"');
    const [{ ackGuid }] = (await dead()) as [{ ackGuid: string }];
    expect((await lifecycle('requeue', ackGuid)).stdout).toBe('sent again to 1 consumer\n');
    expect(await lifecycle('requeue', '00000000-0000-7000-8000-000000000000')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('`pawl lifecycle deliveries` lists them'),
    });
    expect((await lifecycle('deliveries', '--stage', 'Failed')).stdout).toBe('no deliveries are Failed\n');
  });

  it('pawl lifecycle explains each mistake, with the right exit code', async () => {
    await lifecycle('import', loan);
    expect(await lifecycle('trigger', 'prod/loan', 'x', 'aprove')).toMatchObject({
      code: 1,
      stderr:
        'pawl: the lifecycle `loan` of `prod` has no event `aprove`; did you mean `approve`? [TRANSITION_REJECTED]\n',
    });
    expect(await lifecycle('show', 'loan')).toMatchObject({
      code: 2,
      stderr: 'pawl: "loan" is not an env and a name such as prod/loan\n',
    });
    expect(await lifecycle('show', 'prod/loan', 'nobody')).toMatchObject({ code: 1 });
    const bad = join(folder, 'bad.json');
    writeFileSync(bad, readFileSync(loan, 'utf8').replace('"initial": "draft"', '"initial": "drft"'));
    const refused = await lifecycle('import', bad);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('error[UNKNOWN_STATE]: unknown state `drft`');
    expect(refused.stdout).toContain(`${bad}:5:14`);
    expect(await lifecycle('import', policies)).toMatchObject({ code: 2 });
    expect(await lifecycle('import', join(folder, 'none.json'))).toMatchObject({ code: 2 });
    const published = await pawl({ PAWL_URL: dev.url }, 'publish', loan);
    expect(published).toMatchObject({ code: 1, stdout: expect.stringContaining('`pawl lifecycle import`') });
  });
});

describe('the client of the SDK', () => {
  it('the SDK client works through the deliveries of a consumer', async () => {
    const { lifecycles, consumers, deliveries } = createClient({ url: dev.url });
    await lifecycles.import({
      definition: JSON.parse(readFileSync(loan, 'utf8')) as Record<string, unknown>,
      policies: JSON.parse(readFileSync(policies, 'utf8')) as Record<string, unknown>,
    });
    const loans = lifecycles.of('prod', 'loan');
    await consumers.register({ code: 'watcher', kind: 'pull', subscriptions: [{ events: ['approve', 'reject'] }] });
    for (const ref of ['good', 'bad']) {
      await loans.trigger({ externalRef: ref, event: 'submit', requestId: 'r', payload: { amount: 9_999 } });
    }
    const checking = new AbortController();
    const watching = new AbortController();
    const check = async ({ externalRef }: { externalRef?: string | undefined }) => {
      if (externalRef === 'bad') throw new Error('no passport');
    };
    const seen: unknown[] = [];
    const watch = async ({ externalRef, event }: { externalRef?: string | undefined; event?: unknown }) => {
      seen.push([externalRef, (event as { name: string }).name]);
      if (seen.length === 2) watching.abort();
    };
    const checked = deliveries.work('kyc', check, { signal: checking.signal, retryAfterMs: null });
    await deliveries.work('watcher', watch, { signal: watching.signal });
    checking.abort();
    await checked;
    expect(seen.sort()).toEqual([
      ['bad', 'reject'],
      ['good', 'approve'],
    ]);
    const { data: dead } = await deliveries.list({ stage: 'Dead', consumer: 'kyc' });
    expect(dead).toMatchObject([{ message: 'no passport' }]);
    const kinds = async () => (await deliveries.notices()).data.map(({ kind }) => kind);
    await expect.poll(kinds).toContain('ConsumerFailure');
  });
});

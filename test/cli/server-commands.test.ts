// The commands that talk to a running `pawl dev`, as a person types them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { chain, echo, sleep } from '../server/api-server.ts';
import { command, type DevProcess, pawl, startDev } from './dev-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'pawl-commands-'));
const data = join(folder, 'data');
let dev: DevProcess;
beforeAll(async () => {
  dev = await startDev(data);
});
afterAll(async () => {
  dev.process.kill('SIGINT');
  await dev.exited;
  rmSync(folder, { recursive: true, force: true });
});

const there = (...args: string[]) => pawl({ PAWL_URL: dev.url }, ...args);

function file(name: string, content: JsonObject): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const NOWHERE = '01a1e1b7-7e42-7ac3-9117-e8a155bfb90e';

async function publish(definition: JsonObject): Promise<void> {
  expect(await there('publish', file(`${definition.id}.json`, definition))).toMatchObject({ code: 0 });
}

describe('pawl start', () => {
  it('pawl start prints only the execution id, and the same request id gives the same id', async () => {
    const started = await there('start', 'hello-pawl');
    expect(started).toMatchObject({ code: 0, stderr: '' });
    expect(started.stdout.trim()).toMatch(ID);
    const again = [await there('start', 'hello-pawl', '--request-id', 'r1', '--json')];
    again.push(await there('start', 'hello-pawl', '--request-id', 'r1', '--json'));
    const [first, second] = again.map(({ stdout }) => (JSON.parse(stdout) as { executionId: string }).executionId);
    expect(first).toBe(second);
  });

  it('pawl start --wait follows the execution to its end', async () => {
    const trigger = join(folder, 'trigger.json');
    writeFileSync(trigger, '{"name":"Ada"}');
    const { code, stdout } = await there('start', 'hello-pawl', '--trigger', `@${trigger}`, '--wait');
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(ID);
    expect(lines).toContain('outputs {"message":"Hello, Ada! It worked."}');
    const { stdout: json } = await there('start', 'hello-pawl', '--wait', '--json');
    expect(JSON.parse(json)).toMatchObject({
      status: 'Succeeded',
      nodes: { work: { status: 'Succeeded', attempts: 2, outputs: { done: true } } },
    });
  });

  it('pawl start --wait says when a retry is due', async () => {
    const policies = { retry: { maxAttempts: 2, baseDelayMs: 3_600_000, jitter: false } };
    await publish(chain('unlucky', { id: 'work', actionType: 'core.sometimes-fails', parameters: {}, policies }));
    const following = command({ PAWL_URL: dev.url }, ['start', 'unlucky', '--wait']);
    await expect.poll(() => following.output.stdout).toMatch(/↻ work +Retrying .*attempt 2 in (1\.0 h|\d+ min)/);
    following.process.kill('SIGINT');
    expect(await following.finished).toMatchObject({ code: 3 });
  });

  it('pawl start --wait returns the outcome as its exit code', async () => {
    const failing = { id: 'boom', actionType: 'core.fail', parameters: { message: 'no' } };
    await publish({ id: 'failing', displayName: 'Failing', startNode: 'boom', nodes: [failing] });
    await publish({ ...chain('late', sleep('nap', 60_000)), timeoutMs: 1_000 });
    expect(await there('start', 'failing', '--wait')).toMatchObject({ code: 1 });
    expect(await there('start', 'late', '--wait')).toMatchObject({ code: 4 });

    await publish(chain('long', sleep('nap', 3_600_000)));
    const following = command({ PAWL_URL: dev.url }, ['start', 'long', '--wait']);
    await expect.poll(() => following.output.stdout).toContain('Sleeping');
    following.process.kill('SIGINT');
    expect(await following.finished).toMatchObject({ code: 3, stdout: expect.stringContaining('Cancelled in') });
  });

  it('pawl start --wait hints at --trigger when the trigger lacks a value', async () => {
    await publish(chain('asking', { ...echo('a'), parameters: { id: '{{ trigger.id }}' } }));
    const hint = "help: the trigger did not have it; give it with --trigger '{…}'";
    expect((await there('start', 'asking', '--wait')).stdout).toContain(hint);
    expect((await there('start', 'asking', '--wait', '-t', '{"id":7}')).stdout).not.toContain(hint);
  });

  it('pawl start says what to do when the workflow is unknown or the trigger is not JSON', async () => {
    const { code, stderr } = await there('start', 'helo-pawl');
    expect(code).toBe(1);
    expect(stderr).toContain('did you mean hello-pawl? `pawl workflows`');
    expect(stderr).toContain('`pawl workflows` lists what there is');
    const unquoted = await there('start', 'hello-pawl', '--trigger', '{name:"Ada"}');
    expect(unquoted).toMatchObject({ code: 2, stderr: expect.stringContaining('need double quotes') });
    expect((await there('workflows')).stdout).toMatch(/hello-pawl +graph +Active +1 +Hello, Pawl/);
  });
});

describe('pawl run beside a server on the same data folder', () => {
  it('pawl run uses the running server, where the execution can be looked up', async () => {
    const flow = file('beside.json', chain('beside', echo('a'), echo('b')));
    const run = await pawl({}, 'run', flow, '--data', data, '--json');
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const { executionId, nodes } = JSON.parse(run.stdout) as { executionId: string; nodes: JsonObject };
    expect(Object.keys(nodes)).toEqual(['a', 'b']);
    for (const id of [executionId, `run_${executionId.replaceAll('-', '')}`]) {
      expect((await there('describe', id)).stdout).toMatch(/Workflow +beside, version 1/);
    }
    const shown = await pawl({}, 'run', flow, '--data', data);
    expect(shown.stderr).toContain(`running on ${dev.url}`);
  });

  it('pawl run shows in the file what the running server refuses', async () => {
    const flow = file('wrong.json', chain('wrong', { ...echo('a'), actionType: 'core.ecko' }));
    const run = await pawl({}, 'run', flow, '--data', data);
    expect(run).toMatchObject({ code: 1, stdout: expect.stringContaining('did you mean `core.echo`?') });
  });

  it('pawl run without a server runs the steps of every task queue itself', async () => {
    const metadata = { planVersion: '1', createdAt: '2026-02-22T10:00:00Z', createdBy: 'tests', schemaVersion: 'v1' };
    const steps = [{ stepId: 'a', type: 'core.echo', inputs: {}, timeout: '10s', dispatch: { taskQueue: 'q' } }];
    const scope = { tenantId: 'default', projectId: 'p', environmentId: 'e', repoSha: 's' };
    const plan = file('routed.json', { metadata: { ...metadata, planId: 'routed' }, scope, steps });
    const { stdout } = await pawl({}, 'run', plan, '--data', join(folder, 'own'), '--json');
    expect(JSON.parse(stdout)).toMatchObject({ status: 'Succeeded' });
  });

  it('pawl dev refuses to start a second server on the same folder or port', async () => {
    expect(await pawl({}, 'dev', '--data', data, '--port', '0')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`Pawl is running already, at ${dev.url}`),
    });
    const { port } = new URL(dev.url);
    expect(await pawl({}, 'dev', '--data', join(folder, 'other'), '--port', port)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`Pawl is running already, at ${dev.url}`),
    });
  });

  it('pawl doctor finds the running server', async () => {
    const { port } = new URL(dev.url);
    const { code, stdout } = await pawl({}, 'doctor', '--data', data, '--port', port);
    expect(code).toBe(0);
    expect(stdout).toContain(`Pawl is running there, at ${dev.url}`);
    expect(stdout).toContain(`Pawl at ${dev.url} is ready`);
  });
});

describe('mistyped commands', () => {
  it('a mistyped value is explained in the words of the command line, with exit code 2', async () => {
    const refusals: [string[], string][] = [
      [['list', '--limit', 'abc'], 'It is a whole number from 1 to 200.'],
      [['list', '--status', 'Faild'], 'Did you mean Failed?'],
      [['list', '--why', 'waitin'], 'Did you mean waiting?'],
      [['describe', 'abc'], '`pawl list` shows them'],
      [['signal', NOWHERE, 'PAUZE'], 'Did you mean PAUSE?'],
      [['signal', NOWHERE, 'PAUSE', '--id', 'x'], 'The id of a signal is a uuid'],
      [['signal', NOWHERE, 'RETRY_STEP'], 'RETRY_STEP needs "stepId" in its --payload'],
      [['list', '--url', 'localhost:7295'], 'is not a URL such as http://127.0.0.1:7295'],
    ];
    const results = await Promise.all(refusals.map(([args]) => there(...args)));
    for (const [index, { code, stderr }] of results.entries()) {
      expect(stderr).toContain(refusals[index]![1]);
      expect(code).toBe(2);
    }
  });

  it('an unknown execution id is explained, with a hint at pawl list', async () => {
    for (const name of ['describe', 'logs', 'retry', 'cancel']) {
      const { code, stderr } = await there(name, NOWHERE);
      expect([code, stderr]).toEqual([
        1,
        `pawl: no execution ${NOWHERE} [EXECUTION_NOT_FOUND]. \`pawl list\` shows what this server has\n`,
      ]);
    }
  });

  it('an address where another program answers is reported as not Pawl', async () => {
    const stranger = createServer((_request, answer) => {
      answer.setHeader('content-type', 'application/json').end('{"hello":"world"}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => stranger.once('listening', resolve));
    const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    const flow = file('lost.json', chain('lost', echo('a')));
    const commands = [
      ['list'],
      ['workflows'],
      ['describe', NOWHERE],
      ['logs', NOWHERE, '-f'],
      ['start', 'a'],
      ['publish', flow],
    ];
    const results = await Promise.all(commands.map((args) => pawl({}, ...args, '--url', url)));
    stranger.close();
    for (const { code, stderr } of results) {
      expect([code, stderr]).toEqual([1, expect.stringContaining(`what answers at ${url} is not Pawl (HTTP 200)`)]);
    }
  });
});

describe('a server that is restarted', () => {
  it('commands that follow an execution find the server again after a restart', async () => {
    const port = Number(new URL(dev.url).port);
    const id = (await there('start', 'long')).stdout.trim();
    const logs = command({ PAWL_URL: dev.url }, ['logs', id, '--follow']);
    const waiting = command({ PAWL_URL: dev.url }, ['start', 'long', '--wait']);
    await expect.poll(() => logs.output.stdout).toContain('[nap]');
    await expect.poll(() => waiting.output.stdout).toContain('Sleeping');
    dev.process.kill('SIGINT');
    await dev.exited;
    dev = await startDev(data, { port });
    for (const execution of [id, waiting.output.stdout.split('\n')[0]!]) await there('cancel', execution);
    const { code, stdout } = await logs.finished;
    expect(code).toBe(0);
    expect(stdout.match(/ExecutionStarted/g)).toHaveLength(1);
    expect(stdout).toContain('ExecutionCancelled');
    expect(await waiting.finished).toMatchObject({ code: 3, stdout: expect.stringContaining('Cancelled in') });
  });
});

describe('commands that show the state of a server', () => {
  it('pawl stats, failures, waits and find show the state of the server, also as JSON', async () => {
    const { stdout } = await there('start', 'hello-pawl', '--request-id', 'to-be-found', '--wait', '--json');
    const { executionId } = JSON.parse(stdout) as { executionId: string };
    for (const command of ['stats', 'failures', 'waits']) {
      expect(await there(command)).toMatchObject({ code: 0 });
      expect(JSON.parse((await there(command, '--json')).stdout)).toHaveProperty('data');
    }
    expect((await there('find', 'to-be-found')).stdout).toMatch(new RegExp(`execution +${executionId}`));
    expect((await there('find', 'nothing-at-all')).stdout).toBe('nothing is called "nothing-at-all"\n');
  });

  it('pawl bulk shows the count first, and acts with --yes', async () => {
    const chosen = ['bulk', 'cancel', '--workflow', 'hello-pawl', '--reason', 'a test'];
    expect((await there(...chosen)).stdout).toMatch(/^cancel: \d+ executions\. Do it with --yes\n$/);
    expect((await there(...chosen, '--yes')).stdout).toMatch(/^done: \d+ done, \d+ skipped, 0 failed\n$/);
    expect(await there('bulk', 'cancel', '--reason', 'everything')).toMatchObject({ code: 2 });
  });
});

describe('a pipeline whose tasks failed', () => {
  const FLAKY = { name: 'flaky', tasks: { call: { url: 'http://127.0.0.1:9/x', retries: 0 }, nap: { sleep: '10ms' } } };

  it('a pipeline with failed tasks succeeds, and every command marks it as partly failed', async () => {
    expect(await there('publish', file('flaky.json', FLAKY))).toMatchObject({ code: 0 });
    const plain = await there('start', 'flaky', '--wait');
    expect(plain).toMatchObject({ code: 0, stdout: expect.stringContaining(', although 1 node failed') });
    expect(await there('start', 'flaky', '--wait', '--fail-on-task-failure')).toMatchObject({ code: 1 });
    await there('start', 'hello-pawl', '--wait');
    const [, ...rows] = (await there('list', '--task-failures')).stdout.trim().split('\n');
    expect(rows).toHaveLength(2);
    expect(rows.join()).toContain('Succeeded (1 failed)');
    const id = plain.stdout.split('\n')[0]!;
    const described = (await there('describe', id)).stdout;
    expect(described).toContain('Succeeded (1 failed)');
    expect(described).toContain('parameters {"url":"http://127.0.0.1:9/x"');
    const verbose = (await there('logs', id, '-v')).stdout;
    expect(verbose).toMatch(/NodeFailed.*\n {4}parameters \{"url":"http:\/\/127\.0\.0\.1:9\/x"/);
    const runs = (await (await fetch(`${dev.url}/api/v1/workflows/flaky/runs`)).json()) as { data: unknown[] };
    expect(runs.data).toMatchObject([
      { status: 'completed', task_failures: 1 },
      { status: 'completed', task_failures: 1 },
    ]);
    const run = await fetch(`${dev.url}/api/v1/workflows/flaky/runs/${id}`);
    expect(await run.json()).toMatchObject({ data: { status: 'completed', task_failures: 1 } });
  });
});

describe('commands for the workflows of a server', () => {
  it('workflows and their versions are listed, compared, disabled, archived and deleted', async () => {
    await publish(chain('kept', echo('a', { n: 1 })));
    await publish(chain('kept', echo('a', { n: 2 })));
    const { data } = JSON.parse((await there('versions', 'kept', '--json')).stdout) as { data: unknown[] };
    expect(data).toMatchObject([
      { version: 2, isCurrent: true },
      { version: 1, isCurrent: false },
    ]);
    expect((await there('diff', 'kept', '--from', '1', '--to', '2')).stdout).toMatch(
      /\/parameters\/n\n {2}- 1\n {2}\+ 2/,
    );
    expect(await there('diff', 'kept', '--from', 'one')).toMatchObject({ code: 2 });
    expect((await there('disable', 'kept')).stdout).toBe('kept: disabled\n');
    expect(await there('start', 'kept')).toMatchObject({ code: 1, stderr: expect.stringContaining('is disabled') });
    await there('enable', 'kept');
    expect((await there('archive', 'kept')).stdout).toBe('kept: Archived\n');
    expect((await there('reactivate', 'kept')).stdout).toBe('kept: Active\n');
    expect((await there('delete', 'flaky')).stdout).toBe('flaky: deleted\n');
    expect((await there('actions')).stdout).toMatch(/^core\.echo /m);
    expect((await there('dead-letters', 'list')).stdout).toBe('no dead letters\n');
    expect(await there('dead-letters', 'purge')).toMatchObject({ code: 2 });
    expect((await there('consumers', 'list')).stdout).toBe('no consumers\n');
  });
});

describe('the data folder in which a command is typed', () => {
  const here = (...args: string[]) => pawl({ PAWL_DATABASE_DATA_DIR: data }, ...args);

  it('a command finds the server of its data folder, wherever that server listens', async () => {
    const started = await here('start', 'hello-pawl', '--wait');
    expect(started).toMatchObject({ code: 0, stderr: '' });
  });

  it('a command in a data folder without a server still shows the executions that ran there', async () => {
    const alone = (...args: string[]) => pawl({ PAWL_DATABASE_DATA_DIR: join(folder, 'alone') }, ...args);
    const ran = await alone('run', file('alone.json', chain('alone', echo('a'))), '--json');
    const { executionId } = JSON.parse(ran.stdout) as { executionId: string };
    const { stdout, stderr } = await alone('describe', executionId);
    expect(stdout).toContain('Status     Succeeded');
    expect(stderr).toContain('no server is running');
  });
});

describe('commands for what the dashboard does', () => {
  it('pawl catalog disables, enables and deprecates actions and connectors', async () => {
    const { stdout } = await there('catalog', 'list');
    expect(stdout).toMatch(/^http +enabled/m);
    expect(await there('catalog', 'disable', 'http.request')).toMatchObject({
      code: 0,
      stdout: 'http.request: disabled\n',
    });
    expect((await there('actions')).stdout).toMatch(/^http\.request +disabled/m);
    expect((await there('catalog', 'enable', 'http.request')).stdout).toBe('http.request: enabled\n');
    expect((await there('catalog', 'disable', 'http')).stdout).toBe('http: disabled\n');
    expect((await there('catalog', 'enable', 'http')).stdout).toBe('http: enabled\n');
    await there('catalog', 'deprecate', 'core.echo', '--notice', 'use core.transform');
    expect((await there('actions')).stdout).toMatch(/^core\.echo +deprecated +use core\.transform/m);
    await there('catalog', 'deprecate', 'core.echo');
    expect((await there('actions')).stdout).not.toContain('use core.transform');
    expect(await there('catalog', 'disable', 'core.nothing')).toMatchObject({ code: 1 });
  });

  it('pawl documents adds versions and renders them, and pawl templates creates a workflow', async () => {
    const letter = (text: string) => JSON.stringify({ displayName: 'Welcome', bodyTemplate: text });
    expect((await there('documents', 'add', 'letters/welcome', letter('Hi {{ answers.name }}'))).stdout).toBe(
      'letters/welcome: version 1\n',
    );
    await there('documents', 'add', 'letters/welcome', letter('Dear {{ answers.name }}'));
    expect((await there('documents', 'list')).stdout).toMatch(/^letters\/welcome +2 +enabled +Welcome/m);
    const answers = ['--answers', '{"name":"Ada"}'];
    expect((await there('documents', 'render', 'letters/welcome', ...answers)).stdout).toBe('Dear Ada\n');
    expect((await there('documents', 'render', 'welcome', ...answers, '--of-version', '1')).stdout).toBe('Hi Ada\n');
    expect(await there('documents', 'add', 'welcome', '{}')).toMatchObject({ code: 2 });

    expect((await there('templates', 'list')).stdout).toContain('http-health-check');
    const config = '{"url":"https://example.com","channelId":"C0123456789"}';
    const made = await there('templates', 'new', 'http-health-check', '--name', 'Is it up', '--values', config);
    expect(made).toMatchObject({ code: 0, stdout: 'is-it-up: Draft\n' });
  });

  it('pawl triggers creates, fires, disables and deletes a schedule, and pawl audit list shows it', async () => {
    const config = '{"cron":"30 2 * * *"}';
    const { stdout } = await there('triggers', 'create', 'hello-pawl', '--type', 'Schedule', '--settings', config);
    const id = stdout.trim();
    expect(id).toMatch(ID);
    const fired = await there('triggers', 'fire', id, '--data', '{"name":"Ada"}');
    expect(fired.stdout.trim()).toMatch(ID);
    expect((await there('triggers', 'firings', id)).stdout).toContain(fired.stdout.trim());
    expect((await there('triggers', 'disable', id)).stdout).toBe(`${id}: disabled\n`);
    expect((await there('triggers', 'enable', id)).stdout).toBe(`${id}: enabled\n`);
    expect((await there('triggers', 'delete', id)).stdout).toBe(`${id}: deleted\n`);
    expect((await there('triggers', 'list')).stdout).not.toContain(id);
    expect((await there('audit', 'list', '--action', 'trigger')).stdout).toContain(`trigger/${id}`);
  });

  it('pawl connections and secrets never show a secret, and pawl triggers test sends a signed sample', async () => {
    writeFileSync(join(folder, 'token.txt'), 'the-crm-token');
    await there('secrets', 'set', 'crm/token', '--file', join(folder, 'token.txt'));
    const secrets = ['--secrets', `@${file('secrets.json', { token: { provider: 'table', key: 'crm/token' } })}`];
    const kind = ['--connector', 'http', '--kind', 'token', '--allow-host', 'crm.example'];
    expect((await there('connections', 'create', 'crm', ...kind, ...secrets)).stdout).toBe('created crm\n');
    expect((await there('connections', 'rotate', 'crm', ...secrets)).stdout).toBe('changed crm\n');
    const shown = `${(await there('connections', 'show', 'crm')).stdout}${(await there('connections', 'list')).stdout}`;
    expect(shown).toMatch(/crm\.example.*crm +http +token +ready +never/s);
    expect(`${shown}${(await there('secrets', 'list', '--json')).stdout}`).not.toContain('the-crm-token');
    expect((await there('connections', 'check', 'crm')).stdout).toContain('checkUrl');
    expect((await there('connections', 'delete', 'crm')).stdout).toBe('deleted crm\n');

    const github = ['--type', 'Webhook', '--settings', '{"verification":"github","secret":"of-github"}'];
    const id = (await there('triggers', 'create', 'hello-pawl', ...github)).stdout.split('\n')[0]!;
    expect(await there('triggers', 'test', id)).toMatchObject({ code: 0 });
    expect(await there('triggers', 'test', id, '--secret', 'of-github')).toMatchObject({ code: 0 });
    expect(await there('triggers', 'test', id, '--secret', 'of-nobody')).toMatchObject({ code: 1 });
  });
});

// `pawl dev` from the outside: it is ready when it says so, kill -9 loses nothing that was acknowledged (I1), Ctrl-C ends it
// cleanly, and the commands can talk to it.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { chain, echo, sleep } from '../server/api-server.ts';
import { testDatabase } from '../support/database.ts';
import { command, type DevProcess, pawl, startDev } from './dev-process.ts';

let running: DevProcess | null = null;
const folders: string[] = [];

afterEach(async () => {
  running?.process.kill('SIGINT');
  await running?.exited;
  running = null;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-dev-'));
  folders.push(folder);
  return join(folder, 'data');
}

async function api(path: string, body?: JsonObject): Promise<JsonObject> {
  const request =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(`${running!.url}${path}`, request);
  const content = (await answer.json()) as JsonObject;
  if (!answer.ok) throw new Error(JSON.stringify(content));
  return content;
}

const start = async (workflowId: string, body: JsonObject = {}) =>
  (await api(`/api/v1/workflows/${workflowId}/execute`, body)).executionId as string;

async function publish(definition: JsonObject): Promise<void> {
  await api('/api/v1/workflows', definition);
  await api(`/api/v1/workflows/${definition.id}/publish`, {});
}

const statuses = async (): Promise<string[]> =>
  ((await api('/api/v1/executions?limit=200')).data as JsonObject[]).map(({ status }) => status as string);

describe('pawl dev', () => {
  it('pawl dev completes everything it acknowledged after kill -9 and a restart', async () => {
    const folder = newFolder();
    running = await startDev(folder);
    await publish(chain('steps', echo('a'), sleep('b', 300), echo('c'), sleep('d', 300), echo('e')));
    const accepted: string[] = [];
    for (let index = 0; index < 25; index++) accepted.push(await start('steps', { requestId: `r${index}` }));
    await expect.poll(statuses).toContain('Running');
    running.process.kill('SIGKILL');
    expect(await running.exited).toBeNull();

    running = await startDev(folder);
    await expect.poll(statuses, { interval: 250 }).toEqual(Array(25).fill('Succeeded'));
    for (const [index, executionId] of accepted.entries()) {
      expect(await start('steps', { requestId: `r${index}` })).toBe(executionId);
    }
  });

  it('pawl dev starts its database again when it is killed, and running executions go on', async () => {
    const folder = newFolder();
    running = await startDev(folder);
    await publish(chain('steps', echo('a'), sleep('b', 500), echo('c')));
    const accepted = [await start('steps'), await start('steps')];
    await expect.poll(statuses).toContain('Running');
    const postmaster = Number(readFileSync(join(folder, 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(postmaster, 'SIGKILL');

    // While the database is away, requests are refused; this test does not check that.
    const seen = () => statuses().catch((error: Error) => [error.message]);
    await expect.poll(seen, { interval: 250 }).toEqual(accepted.map(() => 'Succeeded'));
    await start('steps');
    await expect.poll(seen).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
  });

  it('pawl dev publishes a sample that runs, and the commands work with it', async () => {
    running = await startDev(newFolder());
    const url = { PAWL_URL: running.url };
    const id = await start('hello-pawl', { trigger: { name: 'Ada' } });
    const logs = await pawl(url, 'logs', id, '--follow');
    expect(logs).toMatchObject({ code: 0 });
    expect(logs.stdout).toContain('ExecutionSucceeded');
    expect(logs.stdout.match(/RetryScheduled/g)).toHaveLength(1);

    const listed = await pawl(url, 'list', '--status', 'Succeeded');
    expect(listed.stdout).toContain(id);
    expect(JSON.parse((await pawl(url, 'list', '--json')).stdout).data).toHaveLength(1);
    const described = await pawl(url, 'describe', id);
    expect(described.stdout).toMatch(/Status +Succeeded/);
    expect(described.stdout).toMatch(/work +core.sometimes-fails +Succeeded +2/);
    expect(JSON.parse((await pawl(url, 'describe', id, '--json')).stdout)).toMatchObject({
      outputs: { message: 'Hello, Ada! It worked.' },
    });

    await publish(chain('long', sleep('nap', 3_600_000)));
    const long = await start('long');
    expect(await pawl(url, 'signal', long, 'pause', '--id', 'a7f4c1de-0000-4000-8000-000000000001')).toMatchObject({
      code: 0,
      stdout: 'sent\n',
    });
    expect(await pawl(url, 'cancel', long, '--reason', 'enough')).toMatchObject({ code: 0 });
    const refused = await pawl(url, 'retry', id);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('WFENG002') });
    expect(await pawl({ PAWL_URL: 'http://127.0.0.1:9' }, 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('pawl dev'),
    });
    expect(await pawl(url, 'signal', long, 'PAUSE', '--payload', '{')).toMatchObject({ code: 2 });
  });

  it('pawl dev stops cleanly on Ctrl-C while an execution is running', async () => {
    running = await startDev(newFolder());
    await publish(chain('long', sleep('nap', 3_600_000)));
    await start('long');
    running.process.kill('SIGINT');
    expect(await running.exited).toBe(0);
    running = null;
  });

  it('pawl dev stops without an error when Ctrl-C comes while the database is created', async () => {
    // In a process group of its own, and the whole group gets the signal, as in a terminal.
    const args = ['dev', '--data', newFolder(), '--port', '0'];
    const { process: child, output, finished } = command({}, args, '', { detached: true });
    await vi.waitFor(() => expect(output.stderr).toContain('making a new database'), 60_000);
    process.kill(-child.pid!, 'SIGINT');
    const { code, stdout, stderr } = await finished;
    expect(stderr).toMatch(/^… making a new database\n(… starting the database\n)?\nstopping\n(… .*\n)?$/);
    expect([code, stdout]).toEqual([0, '']);
  });

  it('pawl dev says in a sentence that the port is taken, with exit code 2', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => blocker.once('listening', resolve));
    const { port } = blocker.address() as AddressInfo;
    const result = await pawl({}, 'dev', '--data', newFolder(), '--port', String(port));
    blocker.close();
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(`port ${port} of 127.0.0.1 is taken`) });
    expect(result.stderr).not.toContain('    at ');
  });
});

describe('pawl serve', () => {
  it('pawl serve refuses to start when nobody could sign in', async () => {
    const database = await testDatabase();
    onTestFinished(() => database.drop());
    const result = await pawl({ DATABASE_URL: database.connectionString }, 'serve', '--port', '0');
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('pawl keys create') });
  });

  it('pawl serve refuses the embedded database, and says what to do', async () => {
    const result = await pawl({}, 'serve', '--insecure', '--port', '0');
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining('set DATABASE_URL') });
  });
});

// `pawl publish` as a person types it, against a running server.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { useApi } from '../workflow/api.ts';
import { echo } from '../workflow/definition.ts';

const api = useApi();
const folder = mkdtempSync(join(tmpdir(), 'pawl-publish-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of its own that does not block this one, because the server that it talks to runs here. */
async function publish(definition: JsonObject | string, ...flags: string[]): Promise<Finished> {
  const file = join(folder, 'workflow.json');
  writeFileSync(file, typeof definition === 'string' ? definition : JSON.stringify(definition, null, 2));
  const main = new URL('../../src/cli/main.ts', import.meta.url).pathname;
  // The sources are compiled once for all these processes.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache') };
  const child = spawn(process.execPath, [main, 'publish', file, '--url', api().url, ...flags], { env });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += chunk));
  child.stderr.on('data', (chunk) => (output.stderr += chunk));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, ...output };
}

describe('pawl publish of a graph', () => {
  it('a published graph is created, and later changed through a draft', async () => {
    const first = await publish(echo('typed', 'one'));
    expect(first).toEqual({ code: 0, stdout: '✓ typed: version 1, Active\n', stderr: '' });
    const second = await publish(echo('typed', 'two'), '--json');
    expect(second.code).toBe(0);
    expect(JSON.parse(second.stdout)).toEqual({
      ok: true,
      format: 'graph',
      workflowId: 'typed',
      version: 2,
      status: 'Active',
    });
    expect(JSON.parse((await publish(echo('typed', 'two'), '--json')).stdout)).toMatchObject({ version: 2 });
    expect((await api().get('/workflows/typed')).body).toMatchObject({ currentVersion: 2, hasDraft: false });
  });

  it('a graph published with --no-activate stays a draft', async () => {
    expect((await publish(echo('later'), '--no-activate')).stdout).toBe('✓ later: version 1, Draft\n');
  });

  it('a problem that the server finds is shown at its place in the file', async () => {
    const definition = echo('lacking');
    const [node] = definition.nodes as JsonObject[];
    const { code, stdout } = await publish({ ...definition, nodes: [{ ...node, actionType: 'core.ecko' }] });
    expect(code).toBe(1);
    expect(stdout).toContain('error[UNKNOWN_ACTION]');
    expect(stdout).toContain('workflow.json:8:21');
    expect(stdout).toContain('help: did you mean `core.echo`?');
    expect(stdout).toContain('was not published');
  });

  it('a graph that fails the local check is not sent to the server', async () => {
    const { code, stdout } = await publish({ ...echo('wrong'), startNode: 'nowhere' });
    expect(code).toBe(1);
    expect(stdout).toContain('/startNode');
    expect((await api().get('/workflows/wrong')).status).toBe(404);
  });
});

describe('pawl publish of a pipeline', () => {
  it('a published pipeline is created, and later replaced', async () => {
    const pipeline = (url: string) => ({ name: 'piped', tasks: { call: { url } } });
    expect((await publish(pipeline('http://127.0.0.1:1/a'))).stdout).toBe('✓ piped: version 1, Active\n');
    expect((await publish(pipeline('http://127.0.0.1:1/b'))).stdout).toBe('✓ piped: version 2, Active\n');
  });
});

describe('when it cannot', () => {
  it('pawl publish without a server says that no server answers, and what to do', async () => {
    const { code, stderr } = await publish(echo('nobody'), '--url', 'http://127.0.0.1:1');
    expect(code).toBe(1);
    expect(stderr).toContain('pawl dev');
    expect(stderr).toContain('--url');
  });

  it('pawl publish refuses a file that is not JSON', async () => {
    expect((await publish('{ "id": ')).code).toBe(1);
  });
});

// The package as a user gets it: packed, installed into a node_modules of its own, and used from there by a program, by a
// compiler and by the command line. Its dependencies are the ones installed here.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { type TestDatabase, testDatabase } from '../support/database.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'pawl-package-'));
const modules = join(folder, 'node_modules');
const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, env });
  mkdirSync(join(modules, 'pawl'), { recursive: true });
  const tarball = join(folder, `pawl-${packageJson.version}.tgz`);
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', join(modules, 'pawl')]);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database?.drop();
});

const node = (...args: string[]) =>
  run(process.execPath, args, { cwd: folder, env: { ...env, DATABASE_URL: database.connectionString } });

const PROGRAM = `
import { createPawl, defineAction } from 'pawl';
import { z } from 'zod';
const greet = defineAction({
  type: 'demo.greet', version: '1.0.0', connector: 'demo', category: 'Demo',
  params: z.object({ name: z.string() }), outputs: z.object({ text: z.string() }),
  run: ({ name }) => ({ outputs: { text: 'Hello ' + name } }),
});
const pawl = await createPawl({ actions: [greet] });
const node = { id: 'hi', actionType: 'demo.greet', parameters: { name: '{{ trigger.name }}' } };
await pawl.publish({ id: 'hello', displayName: 'Hello', startNode: 'hi', nodes: [node] });
const { executionId } = await pawl.start('hello', { trigger: { name: 'Ada' } });
const { status, outputs } = await pawl.result(executionId);
console.log(JSON.stringify({ status, outputs, version: executionId.length }));
await pawl.close();
`;

const TYPES = `
import type { ConfigInput, PawlOptions } from 'pawl';
import { createClient, type PawlApiError } from 'pawl/sdk';
const options: PawlOptions = { server: { port: 8080 } } satisfies ConfigInput;
const client = createClient({ url: 'http://127.0.0.1:7295' });
export const start = async (): Promise<string> => (await client.workflows.execute('hello', { trigger: {} })).executionId;
export const wrong: number = options.server?.port ?? 'not a number';
export type Refusal = PawlApiError;
`;

describe('the installed package', () => {
  it('the installed package runs a workflow from a program', async () => {
    writeFileSync(join(folder, 'program.mjs'), PROGRAM);
    const { stdout } = await node('program.mjs');
    expect(JSON.parse(stdout)).toMatchObject({ status: 'Succeeded', outputs: { text: 'Hello Ada' } });
  });

  it('the installed package has the types of the engine and of the client', async () => {
    writeFileSync(join(folder, 'types.ts'), TYPES);
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
    const failure = (await run(tsc, [...flags, 'types.ts'], { cwd: folder, env }).catch((error) => error)) as {
      readonly stdout: string;
    };
    // One mistake is deliberate: if the types were not found, everything would be any.
    expect(failure.stdout.trim()).toMatch(/^types\.ts\(7,14\): error TS2322: Type 'number \| "not a number"'/);
    // The only error: the types must not need an optional peer that is not installed either.
    expect(failure.stdout.match(/error TS/g)).toHaveLength(1);
  });

  it('publint finds no problem in the package', async () => {
    const { messages } = await publint({ pkgDir: join(modules, 'pawl'), pack: false });
    expect(messages).toEqual([]);
  });

  it('every module resolution for ES modules finds the types of the package (attw)', async () => {
    const tarball = readFileSync(join(folder, `pawl-${packageJson.version}.tgz`));
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
    const { problems = [] } = analysis as { problems?: { kind: string; resolutionKind?: string }[] };
    // The package is for Node 24, which knows `exports` and ES modules. The old resolution and `require` types do not apply.
    const ours = problems.filter(({ resolutionKind }) => !['node10', 'node16-cjs'].includes(resolutionKind ?? ''));
    expect(ours).toEqual([]);
  });

  it('the installed package has the command and all files that the command reads', async () => {
    const pawl = (...args: string[]) => node(join(modules, 'pawl', 'bin', 'pawl'), ...args);
    expect((await pawl('--version')).stdout.trim()).toBe(packageJson.version);
    expect((await pawl('migrate', 'status')).stdout).toMatch(/0001 +engine +applied/);
    writeFileSync(join(folder, 'pawl.config.yaml'), 'engine: { name: packed }\n');
    const definition = { name: 'nap', tasks: { rest: { sleep: '10ms' } } };
    writeFileSync(join(folder, 'nap.json'), JSON.stringify(definition));
    expect(JSON.parse((await pawl('validate', 'nap.json', '--json')).stdout)).toMatchObject({ ok: true });
    expect(JSON.parse((await pawl('run', 'nap.json', '--json')).stdout)).toMatchObject({ status: 'Succeeded' });
  });
});

describe('create-pawl', () => {
  const app = join(folder, 'my-app');
  const bin = join(folder, 'bin');
  const inApp = {
    cwd: app,
    env: { ...env, PATH: `${bin}${delimiter}${join(ROOT, 'node_modules', '.bin')}${delimiter}${env.PATH}` },
  };

  beforeAll(async () => {
    const { stdout } = await run(process.execPath, [
      join(ROOT, 'create-pawl', 'index.js'),
      app,
      '--pawl',
      'file:../p.tgz',
    ]);
    expect(stdout).toContain('npm test');
    // As after `npm install`: the packed Pawl, with its command in the path.
    symlinkSync(modules, join(app, 'node_modules'));
    mkdirSync(bin);
    symlinkSync(join(modules, 'pawl', 'bin', 'pawl'), join(bin, 'pawl'));
  });

  it('create-pawl makes a project whose tests and types pass', async () => {
    const project = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    expect(project).toMatchObject({ name: 'my-app', dependencies: { pawl: 'file:../p.tgz' } });
    const tested = await run('sh', ['-c', project.scripts.test!], inApp);
    expect(tested.stdout).toContain('2 tests passed');
    expect(tested.stdout).toMatch(/Tests.*2 passed/);
    expect((await run('sh', ['-c', project.scripts.check!], inApp)).stdout).toContain('all valid');
  });

  it('create-pawl makes a project that starts and runs its workflow with its own action', async () => {
    const { dev } = (JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as { scripts: { dev: string } })
      .scripts;
    const [, ...args] = dev.split(' ');
    const child = spawn(process.execPath, [join(bin, 'pawl'), ...args, '--port', '0', '--no-samples'], inApp);
    const exited = once(child, 'exit');
    for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('Pawl is ready')) break;
    const start = ['start', 'welcome', '--trigger', '{"name":"Ada"}', '--wait', '--json'];
    const { stdout } = await run(process.execPath, [join(bin, 'pawl'), ...start], inApp);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'Succeeded',
      nodes: { greet: { outputs: { text: 'Hello, Ada!' } } },
    });
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  it('create-pawl overwrites nothing, and publint accepts its package', async () => {
    const again = run(process.execPath, [join(ROOT, 'create-pawl', 'index.js'), app]);
    await expect(again).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('is not empty') });
    const { messages } = await publint({ pkgDir: join(ROOT, 'create-pawl'), pack: false });
    expect(messages).toEqual([]);
  });
});

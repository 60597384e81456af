// The command line without a server: help, mistakes, colours, standard input, databases that cannot be reached.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { command, pawl } from './dev-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'pawl-usage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ROOT = new URL('../../', import.meta.url).pathname;
/** Gives a command a terminal. */
const SCRIPT = '/usr/bin/script';
const LINEAR = join(ROOT, 'examples/graph/linear.json');

describe('help', () => {
  it('pawl --help names every command, with examples and exit codes', async () => {
    const { code, stdout } = await pawl({}, '--help');
    expect(code).toBe(0);
    for (const name of ['dev', 'run', 'start', 'logs', 'signal', 'doctor', 'migrate', 'workflows'])
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(stdout).toContain('Exit codes: 0 fine');
    const [one, same] = await Promise.all([pawl({}, 'help', 'start'), pawl({}, 'start', '--help')]);
    expect(one.stdout).toContain('--request-id');
    expect(one.stdout).toContain('Examples:');
    expect(same.stdout).toBe(one.stdout);
  });

  it('pawl --version prints the version', async () => {
    expect(await pawl({}, '--version')).toMatchObject({ code: 0, stdout: `${packageJson.version}\n` });
  });

  it('a mistyped command gets a suggestion, with exit code 2', async () => {
    expect(await pawl({}, 'vaildate', LINEAR)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^pawl: unknown command 'vaildate'\n\(Did you mean validate\?\)/),
    });
    expect(await pawl({}, 'help', 'strat')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^pawl: unknown command 'strat'\n\(Did you mean start\?\)/),
    });
    expect(await pawl({}, 'start', 'x', '--trigger', '@nowhere.json')).toMatchObject({
      code: 2,
      stderr: 'pawl: --trigger: cannot read nowhere.json: there is no such file\n',
    });
    expect(await pawl({}, 'run')).toMatchObject({ code: 2, stderr: expect.stringContaining('`pawl run --help`') });
    expect(await pawl({}, 'keys', 'list')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('`pawl keys list --help`'),
    });
    expect(await pawl({}, 'list', '--jsn')).toMatchObject({ code: 2, stderr: expect.stringContaining('--json') });
    expect(await pawl({}, 'dev', '--port', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('whole number'),
    });
  });
});

describe('pawl validate', () => {
  it('pawl validate checks a folder or a pattern, and leaves files alone that are no definition', async () => {
    writeFileSync(join(folder, 'bad.json'), '{"name":"x","tasks":{}}');
    writeFileSync(join(folder, 'settings.json'), '{"colour":"red"}');
    const examples = join(ROOT, 'examples');
    const all = await pawl({}, 'validate', examples, folder);
    expect(all.code).toBe(1);
    expect(all.stdout).toContain('settings.json: not a definition');
    expect(all.stdout).toMatch(/\n\d+ definitions, 1 not valid\n$/);
    const good = await pawl({}, 'validate', `${examples}/graph/*.json`, '--json');
    expect(good.code).toBe(0);
    const { ok, files } = JSON.parse(good.stdout) as { ok: boolean; files: { file: string; ok: boolean }[] };
    expect(ok).toBe(true);
    expect(files.length).toBeGreaterThan(4);
    expect(await pawl({}, 'validate', LINEAR, join(folder, 'gone.json'))).toMatchObject({ code: 2 });
    expect(await pawl({}, 'validate', join(folder, '*.yaml'))).toMatchObject({ code: 2 });
  });

  it('pawl validate reads a definition from standard input', async () => {
    const piped = await command({}, ['validate', '-', '--json'], '{"name":"x","tasks":{}}').finished;
    expect(piped.code).toBe(1);
    expect(JSON.parse(piped.stdout)).toMatchObject({ ok: false, format: 'pipeline' });
  });

  it.skipIf(!existsSync(SCRIPT))('pawl validate reads a definition that is typed in a terminal', async () => {
    const typed = spawn(SCRIPT, ['-qec', `${ROOT}bin/pawl validate -`, '/dev/null'], { stdio: 'pipe' });
    typed.stdin.end('{"name":"typed","tasks":{}}\n');
    let shown = '';
    for await (const chunk of typed.stdout) shown += String(chunk);
    expect(shown).toContain('standard input: 1 problem');
  });

  it('pawl validate --actions knows the actions of a folder', async () => {
    const actions = join(ROOT, 'examples/connector');
    const flow = join(folder, 'github.json');
    const node = { id: 'a', actionType: 'github.create-isue', parameters: {} };
    writeFileSync(flow, JSON.stringify({ id: 'g', displayName: 'G', startNode: 'a', nodes: [node] }));
    expect(await pawl({}, 'validate', flow)).toMatchObject({ code: 0 });
    expect(await pawl({}, 'validate', flow, '--actions', actions)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('did you mean `github.create-issue`?'),
    });
    expect(await pawl({}, 'validate', flow, '--actions', join(folder, 'none'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no such folder'),
    });
  });
});

describe('actions of your own', () => {
  it('actions may lie in any folder, and import the Pawl that runs them', async () => {
    const actions = mkdtempSync(join(folder, 'actions-'));
    const shout = `import { defineAction } from 'pawl'; import { z } from 'zod';
      export const shout = defineAction({ type: 'my.shout', version: '1.0.0', connector: 'my', category: 'Mine',
        params: z.object({ text: z.string() }), outputs: z.object({ text: z.string() }),
        async run({ text }: { text: string }) { return { outputs: { text: text.toUpperCase() } }; } });`;
    writeFileSync(join(actions, 'shout.mts'), shout);
    const flow = join(folder, 'shout.json');
    const node = { id: 'a', actionType: 'my.shout', parameters: { text: 'hello' } };
    writeFileSync(flow, JSON.stringify({ id: 's', displayName: 'S', startNode: 'a', nodes: [node] }));
    // The folder of the database may also come from the environment.
    const data = { PAWL_DATABASE_DATA_DIR: join(folder, 'elsewhere') };
    const run = await pawl(data, 'run', flow, '--actions', actions, '--json');
    expect(JSON.parse(run.stdout)).toMatchObject({ status: 'Succeeded', outputs: { text: 'HELLO' } });
    expect(existsSync(join(folder, 'elsewhere', 'cluster'))).toBe(true);

    writeFileSync(join(actions, 'broken.mts'), 'export const a = 1;\nexport const = 2;\n');
    const broken = await pawl({}, 'validate', flow, '--actions', actions);
    expect(broken).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('broken.mts: it cannot be loaded: line 2:'),
    });
  });
});

describe('a database that cannot be used', () => {
  it('a database that cannot be used is explained with the next step and without a password', async () => {
    const admin = new URL(inject('adminUrl'));
    const url = (change: (url: URL) => void) => {
      const changed = new URL(admin);
      change(changed);
      return changed.href;
    };
    const cases: [string, string][] = [
      ['nonsense', 'DATABASE_URL is not a URL such as postgres://'],
      [url((u) => (u.port = '9')), 'no PostgreSQL answers at 127.0.0.1:9'],
      [url((u) => (u.hostname = 'nowhere.invalid')), 'there is no host nowhere.invalid'],
      [url((u) => (u.password = 'guess')), 'does not let pawl in'],
      [url((u) => (u.password = '')), 'does not let pawl in'],
      [url((u) => (u.pathname = '/none')), 'has no database "none". Create it'],
    ];
    const results = await Promise.all(
      cases.flatMap(([DATABASE_URL]) => [
        pawl({ DATABASE_URL }, 'migrate', 'status'),
        pawl({ DATABASE_URL }, 'doctor', '--port', '0'),
      ]),
    );
    for (const [index, [, expected]] of cases.entries()) {
      const [migrate, doctor] = results.slice(2 * index);
      expect([migrate!.code, doctor!.code]).toEqual([2, 1]);
      expect(migrate!.stderr).toContain(expected);
      expect(doctor!.stdout).toContain('→');
      expect(migrate!.stderr + doctor!.stdout).not.toContain(admin.password);
    }
  });

  it('a database folder that cannot be used is explained, with exit code 2', async () => {
    for (const data of ['/etc/hostname/x', ...(process.platform === 'linux' ? ['/proc/x'] : [])]) {
      expect(await pawl({}, 'run', join(ROOT, 'examples/graph/fan-out-fan-in.json'), '--data', data)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`The database folder ${data} cannot be used`),
      });
    }
  });
});

describe('pawl doctor', () => {
  it('pawl doctor passes every check with the embedded database, and says how to fix a problem', async () => {
    const data = join(folder, 'doctor');
    const healthy = await pawl({}, 'doctor', '--data', data, '--port', '0', '--json');
    const { ok, findings } = JSON.parse(healthy.stdout) as { ok: boolean; findings: { check: string }[] };
    expect(ok).toBe(true);
    expect(findings.map(({ check }) => check)).toEqual([
      'node',
      'config',
      'folder',
      'disk',
      'port',
      'database',
      'notifications',
      'clock',
    ]);
    expect(await pawl({ PAWL_ENGINE_LEASE_MS: 'soon' }, 'doctor')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/✗ config .*engine\.leaseMs.*\n +→ docs\/configuration\.md/),
    });
    const unusable = await pawl({}, 'doctor', '--data', join(ROOT, 'package.json'), '--port', '0');
    expect(unusable.stdout).toMatch(/✗ folder .*is a file\n +→ choose another folder/);
  });
});

// The commands of README.md and examples/README.md, typed as they are written there: in a shell, with `npx` leading to this
// clone, and with the addresses of this test instead of the default ones.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { type DevProcess, startDev } from '../cli/dev-process.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const DEFAULT_URL = 'http://127.0.0.1:7295';
const SHOP_URL = 'http://127.0.0.1:7300';
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const examples = readFileSync(join(ROOT, 'examples/README.md'), 'utf8');

/** The commands of every `sh` block between two headings; a line that ends in a backslash continues on the next line. */
function commandsOf(text: string, from: string, to: string): string[] {
  const section = text.slice(text.indexOf(from), text.indexOf(to));
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!.replaceAll('\\\n', ' '));
  return blocks.flatMap((block) => block.trim().split('\n'));
}

const folder = mkdtempSync(join(tmpdir(), 'pawl-tour-'));
let dev: DevProcess;
let shop: ChildProcess;

beforeAll(async () => {
  dev = await startDev(join(folder, 'data'));
  shop = spawn(process.execPath, [join(ROOT, 'examples/shop/shop.ts'), '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: shop.stdout! }), 'line')) as [string];
  const shopUrl = /http:\S+/.exec(line)![0];
  prepareClone(shopUrl);
});
afterAll(async () => {
  shop.kill();
  dev.process.kill('SIGINT');
  await dev.exited;
  rmSync(folder, { recursive: true, force: true });
});

/** The examples as in the clone, but with the address of this shop and no long naps, and the `npx` of this clone. */
function prepareClone(shopUrl: string): void {
  cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
  const orders = join(folder, 'examples/shop/orders.json');
  writeFileSync(orders, readFileSync(orders, 'utf8').replaceAll(SHOP_URL, shopUrl).replace('"10s"', '"1s"'));
  mkdirSync(join(folder, 'bin'));
  const npx = join(folder, 'bin/npx');
  writeFileSync(
    npx,
    `#!/bin/sh\ncommand=$1; shift\ncase $command in\npawl) exec '${process.execPath}' '${ROOT}bin/pawl' "$@";;\nnode) script=$1; shift; exec '${process.execPath}' "${ROOT}$script" "$@";;\nesac\nexit 99\n`,
  );
  chmodSync(npx, 0o755);
}

async function typed(command: string): Promise<string> {
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, PAWL_URL: dev.url };
  const text = command.replaceAll(DEFAULT_URL, dev.url);
  return (await promisify(execFile)('/bin/sh', ['-c', text], { cwd: folder, env })).stdout;
}

const withoutTimes = (text: string): string => text.replaceAll(/\d+(\.\d)? m?s\b/g, 'N ms');

describe('the tour of the README', () => {
  const [start, sample, ...rest] = commandsOf(readme, '## Five minutes', '## Write a workflow');

  it('the README starts Pawl with one command', () => {
    expect(start).toBe('npm ci && npm start');
    expect(packageJson.scripts.start).toBe('bin/pawl dev');
    expect(packageJson.bin.pawl).toBe('bin/pawl');
  });

  it('prints what it says', async () => {
    expect(sample).toContain('npx pawl start hello-pawl');
    const printed = withoutTimes(await typed(sample!)).split('\n');
    const [, promised] = /^```\n[\da-f-]{36}\n(✓ greet.*?)^```$/ms.exec(readme)!;
    expect(printed[0]).toMatch(/^[\da-f-]{36}$/);
    // The time of the retry depends on the moment at which somebody looks.
    const lines = withoutTimes(promised!)
      .split('\n')
      .filter((line) => !line.startsWith('↻'));
    expect(printed).toEqual(expect.arrayContaining(lines));
  });

  it('the commands of the README tour all work', async () => {
    const outputs = new Map<string, string>();
    for (const command of rest) {
      if (command !== 'npx node examples/shop/shop.ts') outputs.set(command, await typed(command));
    }
    expect(rest.length).toBeGreaterThan(5);
    const of = (part: string) => [...outputs].find(([command]) => command.includes(part))?.[1];
    expect(of('curl')).toContain('"executionId"');
    expect(of('pawl list')).toContain('hello-pawl@1');
    expect(of('pawl start shop-orders')).toMatch(/✓ ship +Succeeded/);
    expect(of('pawl start shop-orders')).toMatch(/^Succeeded in/m);
  });
});

describe('the examples', () => {
  it('every example file is listed in the README of the examples', () => {
    const files = readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => /\.(json|ts)$/.test(name))) expect(examples).toContain(`](${file})`);
  });

  const rows = (from: string, to?: string) =>
    [
      ...examples
        .slice(examples.indexOf(from), to === undefined ? undefined : examples.indexOf(to))
        .matchAll(/\| `(npx [^`]+)` \|$/gm),
    ].map(([, command]) => command!);

  it('the examples that need no account run as they are', async () => {
    const commands = rows('## Run as they are', '## With accounts');
    expect(commands.length).toBe(5);
    for (const command of commands) expect(await typed(command)).not.toBe('');
  });

  it('the examples that need accounts are valid, and their triggers are JSON', async () => {
    const commands = rows('## With accounts');
    expect(commands.length).toBeGreaterThan(8);
    for (const command of commands) {
      const [, trigger = '{}'] = /--trigger '([^']*)'/.exec(command) ?? [];
      expect(() => JSON.parse(trigger)).not.toThrow();
    }
    await typed('npx pawl validate examples/graph examples/language examples/pipeline examples/plan examples/shop');
  });
});

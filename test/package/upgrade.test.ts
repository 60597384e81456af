// A rolling upgrade: the program from before the newest migration works on the new schema, beside processes of the new program.
// The former program comes from the history of this clone: the last release, or the state before the newest migration was added.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');

const git = (...args: string[]): string => {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
};

/** A commit that can be read here; empty: this is not a clone with a history. */
function formerProgram(): string {
  const release = git('describe', '--tags', '--abbrev=0', '--match', 'v*');
  if (release !== '') return release;
  const [newest = ''] = git('log', '--diff-filter=A', '--format=%H', '-1', '--', 'migrations').split('\n');
  return newest === '' ? '' : git('rev-parse', '--verify', '--quiet', `${newest}^`);
}

const former = formerProgram();
if (former === '')
  console.warn('SKIPPED: the test of a rolling upgrade. To run it: a clone with its history (git fetch --unshallow)');

describe.runIf(former !== '')('the program before the newest migration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-former-'));
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
    const archive = join(folder, 'former.tar');
    await run('git', ['archive', '--output', archive, former], { cwd: ROOT });
    mkdirSync(join(folder, 'former'));
    await run('tar', ['-xf', archive, '-C', join(folder, 'former')]);
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'former', 'node_modules'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await database?.drop();
  });

  it('the former program runs executions on the new schema, and the new program continues them', {
    timeout: 60_000,
  }, async () => {
    const door = await createPawl({ runner: false, database: { url: database.connectionString } });
    onTestFinished(() => door.close());
    await door.publish({
      id: 'upgraded',
      displayName: 'Upgraded',
      startNode: 'flaky',
      nodes: [
        {
          id: 'flaky',
          actionType: 'core.sometimes-fails',
          parameters: { failTimes: 1, said: '{{ trigger.word }}' },
          policies: { retry: { maxAttempts: 3, baseDelayMs: 10 } },
          edges: [{ targetNode: 'nap' }],
        },
        {
          id: 'nap',
          actionType: 'core.delay',
          parameters: { durationMs: '{{ trigger.napMs }}' },
          edges: [{ targetNode: 'last' }],
        },
        { id: 'last', actionType: 'core.echo', parameters: { said: '{{ context.data.flaky.said }}' } },
      ],
    });
    const runner = spawn(process.execPath, [join(folder, 'former', 'bin', 'pawl'), 'runner'], {
      env: { ...process.env, DATABASE_URL: database.connectionString },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(() => void runner.kill('SIGKILL'));
    let said = '';
    runner.stderr.on('data', (text) => {
      said += text;
    });
    const words = Array.from({ length: 10 }, (_, n) => `word ${n}`);
    const started = await Promise.all(words.map((word) => door.start('upgraded', { trigger: { word, napMs: 50 } })));
    const asleep = await door.start('upgraded', { trigger: { word: 'asleep', napMs: 4_000 } });
    await expect.poll(() => said, { timeout: 30_000 }).toContain('The runner is ready');
    const results = await Promise.all(started.map(({ executionId }) => door.result(executionId)));
    expect(results.map(({ outputs }) => outputs)).toEqual(words.map((word) => ({ said: word })));
    // The other half of the upgrade: the former program stops, and a new one takes over its executions.
    runner.kill('SIGTERM');
    const newer = await createPawl({ database: { url: database.connectionString } });
    onTestFinished(() => newer.close());
    expect(await door.result(asleep.executionId)).toMatchObject({ status: 'Succeeded', outputs: { said: 'asleep' } });
  });
});

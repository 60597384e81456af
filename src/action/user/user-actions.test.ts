import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectSuccess, runAction } from '../attempt.testing.ts';
import { loadUserActions, UserActionError } from './user-actions.ts';

const contract = pathToFileURL(resolve('src/action/action.ts')).href;
const zod = pathToFileURL(resolve('node_modules/zod/index.js')).href;
const imports = `import { defineAction } from '${contract}'; import { z } from '${zod}';`;

function definition(type: string): string {
  return `defineAction({ type: '${type}', version: '1.0.0', connector: 'crm', category: 'Data',
    params: z.object({ id: z.number() }), outputs: z.object({ id: z.number() }), run: ({ id }) => ({ outputs: { id: id + 1 } }) })`;
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pawl-actions-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

async function problemsOf(files: Record<string, string>): Promise<string> {
  await write(files);
  const error = await loadUserActions(folder).catch((thrown: unknown) => thrown);
  if (!(error instanceof UserActionError)) throw new Error('expected a UserActionError');
  return error.message;
}

describe('user actions', () => {
  it('user actions are loaded from every file, in order, and can be run', async () => {
    await write({
      'b.mjs': `${imports} export const second = ${definition('crm.second')}; export const other = 3;`,
      'a.ts': `${imports} const type: string = 'x'; export const first = ${definition('crm.first')}; export default first;`,
      'readme.md': 'not code',
      '_shared.js': 'throw new Error("not loaded")',
      'a.test.ts': 'throw new Error("not loaded")',
      'a.d.ts': 'export {};',
    });
    const actions = await loadUserActions(folder);
    expect(actions.map(({ type }) => type)).toEqual(['crm.first', 'crm.second']);
    const [first] = actions;
    expect(first && expectSuccess(await runAction(first, { id: 1 })).outputs).toEqual({ id: 2 });
  });

  it('an actions folder that does not exist is named in the error', async () => {
    await expect(loadUserActions(join(folder, 'missing'))).rejects.toThrow(
      /The folder of actions .*missing cannot be read: there is no such folder/,
    );
  });

  it('every problem of a user action is reported with its file', async () => {
    const message = await problemsOf({
      'broken.mjs': 'export const = 1;',
      'throws.mjs': 'throw new Error("no database");',
      'empty.mjs': 'export const answer = 42;',
      'plain.mjs': 'export const mine = { type: "crm.plain", run() {} };',
      'partial.mjs': `${imports} export const half = defineAction({ type: 'crm.half', version: '1.0.0', connector: 'crm', params: {} });`,
    });
    expect(message).toContain('- broken.mjs: it cannot be loaded: ');
    expect(message).toContain('- throws.mjs: it cannot be loaded: no database');
    expect(message).toContain('- empty.mjs: it exports no action; make one with defineAction');
    expect(message).toContain('- plain.mjs: the export "mine" looks like an action but was not made with defineAction');
    expect(message).toContain('- partial.mjs: the export "half" has no category');
    expect(message).toContain('- partial.mjs: the export "half" has params that are not a zod schema');
    expect(message).toContain('- partial.mjs: the export "half" has no run function');
  });

  it('the error for a type in two files names both', async () => {
    const text = `${imports} export const action = ${definition('crm.same')};`;
    expect(await problemsOf({ 'a.mjs': text, 'b.mjs': text })).toContain(
      '- crm.same is defined more than once: in a.mjs and b.mjs',
    );
  });
});

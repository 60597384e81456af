import { expect, it } from 'vitest';
import type { DefinitionRow, WorkflowStore } from '../store/port.ts';
import type { SchemaCheck } from './schema-check.ts';
import { TriggerCheck } from './trigger-check.ts';

const version = { tenantId: 't', workflowId: 'w', version: 1 };
const row: DefinitionRow = { format: 'graph', definition: '{}', checksum: 'c', status: 'Active' };

function setup(answers: (DefinitionRow | null | Error)[]) {
  let asked = 0;
  const store: Pick<WorkflowStore, 'definitionGet'> = {
    async definitionGet() {
      asked++;
      const answer = answers.shift() ?? null;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const check = new TriggerCheck(store as WorkflowStore, {} as SchemaCheck);
  return { check: () => check.check(version, {}, '{}'), asked: () => asked };
}

it('a version is read once for all starts at the same moment', async () => {
  const { check, asked } = setup([row]);
  await Promise.all(Array.from({ length: 1_000 }, check));
  await check();
  expect(asked()).toBe(1);
});

it('a version is read again after a failure', async () => {
  const { check, asked } = setup([new Error('away'), row]);
  const both = await Promise.allSettled([check(), check()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await check();
  expect(asked()).toBe(2);
});

import { describe, expect, it } from 'vitest';
import type { NewExecution, StartOutcome } from '../../store/port.ts';
import { settled } from '../hand-timers.testing.ts';
import { LimitedStarter } from './limited-starter.ts';

const item = (tenantId: string, executionId: string) => ({ tenantId, executionId, workflowId: 'w' }) as NewExecution;

function setup() {
  const begun: string[] = [];
  const open = new Map<string, (outcome: StartOutcome | Error) => void>();
  const starter = new LimitedStarter({
    executionStartLimited({ item: { executionId } }) {
      begun.push(executionId);
      return new Promise((resolve, reject) =>
        open.set(executionId, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome))),
      );
    },
  });
  const finish = async (executionId: string, outcome: StartOutcome | Error = { executionId, existing: null }) => {
    open.get(executionId)!(outcome);
    await settled();
  };
  return { starter, begun, finish };
}

describe('starts of tenants with a quota', () => {
  it('go one at a time for each tenant, and tenants take turns', async () => {
    const { starter, begun, finish } = setup();
    const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'd1', 'd2'].map((id) => starter.start(item(id[0]!, id)));
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    await finish('a1');
    expect(begun.at(-1)).toBe('a2');
    await finish('b1');
    expect(begun.at(-1)).toBe('d1');
    for (const id of ['c1', 'a2', 'd1', 'a3', 'd2']) await finish(id);
    expect((await Promise.all(all)).map(({ executionId }) => executionId)).toEqual([
      'a1',
      'a2',
      'a3',
      'b1',
      'c1',
      'd1',
      'd2',
    ]);
  });

  it('that fail hold nobody up', async () => {
    const { starter, begun, finish } = setup();
    const first = starter.start(item('a', 'a1')).catch((error: Error) => error.message);
    const second = starter.start(item('a', 'a2'));
    await finish('a1', new Error('the database is away'));
    await finish('a2');
    expect([await first, (await second).isNew, begun]).toEqual(['the database is away', true, ['a1', 'a2']]);
  });
});

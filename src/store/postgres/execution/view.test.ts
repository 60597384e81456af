// The views that people query with SQL, and the catalog, which the port only writes.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase, withClient } from '../../../../test/support/database.ts';
import type { ActionRow, ConnectorRow } from '../../catalog-port.ts';
import {
  AWKWARD_JSON,
  newAttempt,
  newBatch,
  newEvent,
  newExecution,
  owning,
  TENANT,
} from '../../contract/builder.testing.ts';
import type { Store } from '../../port.ts';
import { createPostgresStore } from '../postgres-store.ts';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await testDatabase();
  store = createPostgresStore({ connectionString: database.connectionString });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const query = async (text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  withClient(database.connectionString, async (client) => (await client.query(text, values)).rows);

describe('SQL views', () => {
  it('the events view has a row for each fact, with its number and level', async () => {
    const { runner, ids } = await owning(store, 1);
    const facts =
      '[{"type":"NodeStarted","node":0},{"type":"NodeFailed","node":0,"outputs":"\\u0000"}, { "type" : "Warning" }]';
    const events = [newEvent(ids[0]!, 0), newEvent(ids[0]!, 1, facts)];
    await store.executionCommit(newBatch(runner.commitSlot, { events }));
    const rows = await query(
      'select seq, level, type from execution_events_view where workflow_execution_id = $1 order by seq',
      ids,
    );
    expect(rows).toEqual([
      { seq: 0, level: 'Info', type: 'ExecutionStarted' },
      { seq: 1, level: 'Info', type: 'NodeStarted' },
      { seq: 2, level: 'Error', type: 'NodeFailed' },
      { seq: 3, level: 'Warn', type: 'Warning' },
    ]);
  });

  it('the views show who requested an execution, unless the text cannot be parsed', async () => {
    const plain = newExecution({ principal: '{"userId":"u1","email":"u@example.com","displayName":"U 😀"}' });
    const awkward = newExecution({ principal: AWKWARD_JSON });
    await store.executionStart({ items: [plain, awkward] });
    const select =
      'select status, requester_user_id, requester_email, requester_display_name from executions_view where id = $1';
    expect(await query(select, [plain.executionId])).toEqual([
      { status: 'Pending', requester_user_id: 'u1', requester_email: 'u@example.com', requester_display_name: 'U 😀' },
    ]);
    expect(await query(select, [awkward.executionId])).toMatchObject([{ requester_user_id: null }]);
  });

  it('the views show attempts with their parameters, and parents with their children', async () => {
    const { runner, ids } = await owning(store, 1);
    const executionId = ids[0]!;
    const events = [{ ...newEvent(executionId, 0), inputs: '{"greet":{"n":1}}' }];
    const child = newExecution({ parentId: executionId, parentNode: 'call', priority: 1 });
    const attempts = [newAttempt(executionId), newAttempt(executionId, { attempt: 2, startedSeq: 9 })];
    await store.executionCommit(newBatch(runner.commitSlot, { events, attempts, children: [child] }));
    const shown = await query(
      'select attempt, retry_count, parameters from action_executions_view where workflow_execution_id = $1 order by attempt',
      [executionId],
    );
    expect(shown).toEqual([
      { attempt: 1, retry_count: 0, parameters: { n: 1 } },
      { attempt: 2, retry_count: 1, parameters: { n: 1 } },
    ]);
    const family = await query('select * from workflow_execution_hierarchy where parent_execution_id = $1', [
      executionId,
    ]);
    expect(family).toMatchObject([{ child_execution_id: child.executionId, parent_node_id: 'call' }]);
  });
});

describe('the audit of executions', () => {
  it('the audit finds executions that nothing will ever wake, and contradictory rows', async () => {
    const { runner, ids } = await owning(store, 4);
    const [lost, doubled, orphaned, unowned] = ids as [string, string, string, string];
    await query('delete from execution_queue where execution_id = $1', [lost]);
    await query(
      `insert into execution_outcomes (execution_id, tenant_id, status, started_at, ended_at) values ($1, $2, 'Failed', now(), now())`,
      [doubled, TENANT],
    );
    await query('delete from workflow_executions where id = $1', [orphaned]);
    const found = Object.fromEntries(
      (await store.queueAudit()).map(({ executionId, problem }) => [executionId, problem]),
    );
    expect(found).toEqual({
      [lost]: 'neither in the queue nor ended',
      [doubled]: 'ended, and still in the queue',
      [orphaned]: 'in the queue without an execution',
    });
    await query(`update runner_slots set state = 'dead' where runner_id = $1`, [runner.runnerId]);
    const problems = (await store.queueAudit()).filter(({ executionId }) => executionId === unowned);
    expect(problems).toEqual([{ executionId: unowned, problem: 'owned by a runner that is not live' }]);
  });
});

describe('the action catalog', () => {
  const connector: ConnectorRow = {
    id: 'core',
    displayName: 'Core',
    description: 'Built in',
    iconUrl: null,
    documentationUrl: 'https://example.com',
    configSchema: '{"type":"object", "z":1}',
    requiresAuth: false,
    authType: null,
    version: '1.0.0',
    capabilities: ['echo', 'a,"b"'],
  };
  const action: ActionRow = {
    id: 'core.echo',
    displayName: 'Echo',
    description: 'Gives back what it was given',
    category: 'Data',
    connectorId: 'core',
    parameterSchema: '{"type":"object", "z":1, "a":2}',
    outputSchema: '{}',
    version: '1.0.0',
    deprecationNotice: null,
    tags: [],
    codes: ['NOT_ECHOED'],
  };

  it('the catalog is updated, and entries that an operator disabled stay disabled', async () => {
    await store.catalogUpsert({ connectors: [connector], actions: [action] });
    await query('update action_catalog set is_enabled = false');
    await query('update connectors set is_enabled = false');
    const newer = { ...action, version: '1.1.0', deprecationNotice: 'Use core.echo-v2', tags: ['x'] };
    await store.catalogUpsert({ connectors: [{ ...connector, version: '2.0.0' }], actions: [newer] });
    expect(
      await query(
        'select version, is_enabled, capabilities, requires_auth, documentation_url, config_schema::text as schema from connectors',
      ),
    ).toEqual([
      {
        version: '2.0.0',
        is_enabled: false,
        capabilities: ['echo', 'a,"b"'],
        requires_auth: false,
        documentation_url: 'https://example.com',
        schema: connector.configSchema,
      },
    ]);
    expect(
      await query(
        'select version, is_enabled, deprecation_notice, tags, parameter_schema::text as schema from action_catalog',
      ),
    ).toEqual([
      {
        version: '1.1.0',
        is_enabled: false,
        deprecation_notice: 'Use core.echo-v2',
        tags: ['x'],
        schema: action.parameterSchema,
      },
    ]);
  });

  it('a notice set or removed by an operator is kept, and other notices come from the code', async () => {
    const noticed = (id: string, deprecationNotice: string | null) => ({ ...action, id, deprecationNotice });
    const before = [noticed('set', null), noticed('unset', 'Old'), noticed('left', 'Old')];
    await store.catalogUpsert({ connectors: [connector], actions: before });
    await store.actionUpdate({ id: 'set', deprecationNotice: 'Ours' });
    await store.actionUpdate({ id: 'unset', deprecationNotice: null });
    await store.actionUpdate({ id: 'left', isEnabled: true });
    const after = [noticed('set', 'New'), noticed('unset', 'New'), noticed('left', 'New')];
    await store.catalogUpsert({ connectors: [connector], actions: after });
    expect(
      await query(`select id, deprecation_notice as notice from action_catalog where id <> 'core.echo' order by id`),
    ).toEqual([
      { id: 'left', notice: 'New' },
      { id: 'set', notice: 'Ours' },
      { id: 'unset', notice: null },
    ]);
  });

  it('an action of an unknown connector is refused, and nothing else is stored', async () => {
    const stray = { ...action, id: 'stray', connectorId: 'nowhere' };
    const upsert = store.catalogUpsert({ connectors: [{ ...connector, id: 'new' }], actions: [stray] });
    await expect(upsert).rejects.toMatchObject({ failure: 'data' });
    expect(await query(`select id from connectors where id = 'new'`)).toEqual([]);
  });
});

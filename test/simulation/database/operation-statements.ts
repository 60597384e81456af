// Workflows, dead letters, retention, the clock and keys. See src/store/postgres/workflow/workflow.sql and operation.sql.

import { checkFormat, json } from './column.ts';
import { OWNED, readClock, type Statements, type Tables } from './tables.ts';

type OperationStatements = Pick<
  Statements,
  | 'workflowPublish'
  | 'workflowGet'
  | 'definitionGet'
  | 'definitionDriver'
  | 'workflowArchived'
  | 'childTarget'
  | 'deadLetterList'
  | 'deadLetterPurge'
  | 'retentionPurge'
  | 'now'
  | 'secretGet'
>;

export function operationStatements(tables: Tables): OperationStatements {
  return {
    workflowPublish: (params) => publish(tables, params),
    workflowGet: ({ tenantId, workflowId }) => tables.workflows.get(JSON.stringify([tenantId, workflowId])) ?? null,
    definitionDriver({ tenantId, workflowId, version }) {
      const row = tables.definitions.get(JSON.stringify([tenantId, workflowId]))?.[version - 1];
      return (JSON.parse(row?.definition ?? '{}') as { driver?: string }).driver ?? null;
    },
    definitionGet({ tenantId, workflowId, version }) {
      const key = JSON.stringify([tenantId, workflowId]);
      const row = tables.definitions.get(key)?.[version - 1];
      return row === undefined ? null : { ...row, status: tables.workflows.get(key)!.status };
    },
    workflowArchived({ tenantId, workflowId }) {
      const workflow = tables.workflows.get(JSON.stringify([tenantId, workflowId]));
      return workflow === undefined ? null : workflow.status === 'Archived';
    },
    childTarget({ tenantId, workflowId, version: wanted }) {
      const key = JSON.stringify([tenantId, workflowId]);
      const workflow = tables.workflows.get(key);
      if (workflow === undefined) return null;
      const version = wanted ?? workflow.currentVersion;
      const format = version === null ? null : (tables.definitions.get(key)?.[version - 1]?.format ?? null);
      return { status: workflow.status, isEnabled: workflow.isEnabled, version, format };
    },
    deadLetterList: ({ tenantId, afterId, limit }) =>
      [...tables.deadLetters.values()]
        .filter((letter) => letter.tenantId === tenantId && Number(letter.id) > Number(afterId))
        .slice(0, limit)
        .map(({ tenantId: _tenantId, ...letter }) => letter),
    deadLetterPurge: ({ tenantId, ids }) =>
      (ids ?? [...tables.deadLetters.keys()]).filter(
        (id) => tables.deadLetters.get(id)?.tenantId === tenantId && tables.deadLetters.delete(id),
      ).length,
    retentionPurge: (params) => purge(tables, params),
    now: () => readClock(tables),
    secretGet({ name }) {
      const secret = tables.secrets.get(name) ?? new Uint8Array(32).map((_, index) => index + tables.nextId);
      if (!tables.secrets.has(name)) tables.nextId++;
      tables.secrets.set(name, secret);
      return secret;
    },
  };
}

function publish(
  tables: Tables,
  params: Parameters<Statements['workflowPublish']>[0],
): ReturnType<Statements['workflowPublish']> {
  const { tenantId, workflowId, displayName, format, definition, checksum } = params;
  checkFormat(format);
  json(definition);
  const key = JSON.stringify([tenantId, workflowId]);
  const versions = tables.definitions.get(key) ?? [];
  tables.definitions.set(key, versions);
  let index = versions.findIndex((row) => row.checksum === checksum);
  const created = index < 0;
  if (created) index = versions.push({ format, definition, checksum }) - 1;
  const isEnabled = tables.workflows.get(key)?.isEnabled ?? true;
  const version = index + 1;
  tables.workflows.set(key, { workflowId, displayName, format, status: 'Active', isEnabled, currentVersion: version });
  return { version, created };
}

function purge(tables: Tables, { endedBefore, limit }: Parameters<Statements['retentionPurge']>[0]): number {
  const letters = new Set([...tables.deadLetters.values()].map(({ executionId }) => executionId));
  const isReferred = (id: string) => {
    const { parentId } = tables.executions.get(id)!;
    const children = [...tables.executions.values()].filter((child) => child.parentId === id);
    return letters.has(id) || (parentId !== null && tables.queue.has(parentId)) || children.some(isLive);
  };
  const isLive = ({ executionId }: { executionId: string }) => tables.queue.has(executionId);
  // Executions whose events may not be published yet are kept.
  const [unpublished] = tables.batches.values();
  const until = Math.min(endedBefore, unpublished === undefined ? Infinity : unpublished.at - 3_600_000);
  const doomed = [...tables.outcomes.values()]
    .filter(({ executionId, endedAt }) => endedAt < until && !isReferred(executionId))
    .map(({ executionId }) => executionId)
    .sort()
    .slice(0, limit);
  const { outcomes, executions, events, attempts, checkpoints, inbox, signals, logs } = tables;
  for (const id of doomed) {
    for (const table of [outcomes, executions, events, attempts, checkpoints, inbox, signals, logs]) table.delete(id);
    for (const [key, link] of tables.links) if (link.executionId === id) tables.links.delete(key);
  }
  forgetRunners(tables, tables.clock() - RUNNER_KEPT_MS);
  return doomed.length;
}

const RUNNER_KEPT_MS = 24 * 3_600_000;

function forgetRunners(tables: Tables, before: number): void {
  for (const [runnerId, expiresAt] of tables.leases) {
    const slots = [...tables.slots.values()].filter((slot) => slot.runnerId === runnerId);
    const owns = [...tables.queue.values()].some((row) => row.state === OWNED && row.runnerId === runnerId);
    if (expiresAt >= before || owns || slots.some(({ state }) => state === 'live')) continue;
    for (const { id } of slots) tables.slots.delete(id);
    tables.leases.delete(runnerId);
    tables.runners.delete(runnerId);
  }
}

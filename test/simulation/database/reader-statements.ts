// Reading, workflows and operations: what the engine asks besides its work. See reader.sql, workflow.sql, operation.sql.

import type { ExecutionView } from '../../../src/store/reader-port.ts';
import { checkFormat, json } from './column.ts';
import { linkKey } from './commit-statements.ts';
import { OWNED, readClock, type Statements, type Tables } from './tables.ts';

type ReaderStatements = Pick<
  Statements,
  | 'executionGet'
  | 'executionTenant'
  | 'executionAttempts'
  | 'executionJournal'
  | 'executionChildren'
  | 'executionLogs'
  | 'resourceFind'
  | 'resourceLinkCheck'
>;

export function readerStatements(tables: Tables): ReaderStatements {
  return {
    executionGet({ tenantId, executionId }) {
      const view = viewOf(tables, executionId);
      return view?.tenantId === tenantId ? view : null;
    },
    executionTenant: ({ executionId }) => tables.executions.get(executionId)?.tenantId ?? null,
    executionAttempts({ executionId }) {
      const rows = [...(tables.attempts.get(executionId)?.values() ?? [])];
      rows.sort((a, b) => a.startedAt - b.startedAt || (a.nodeId < b.nodeId ? -1 : 1) || a.attempt - b.attempt);
      return rows.map((row) => ({ ...row, parameters: parametersOf(tables, executionId, row.nodeId, row.startedSeq) }));
    },
    executionJournal: ({ executionId, afterSeq, limit }) =>
      (tables.events.get(executionId) ?? [])
        .filter(({ seq }) => seq > afterSeq)
        .slice(0, limit)
        .map(({ seq, at, facts }) => ({ seq, at, facts })),
    executionChildren: ({ executionId }) =>
      [...tables.executions.values()]
        .filter(({ parentId }) => parentId === executionId)
        .map((child) => viewOf(tables, child.executionId)!)
        .sort((a, b) => (a.executionId < b.executionId ? -1 : 1)),
    executionLogs: ({ executionId, limit }) => (tables.logs.get(executionId) ?? []).slice(0, limit),
    resourceFind(key) {
      const link = tables.links.get(linkKey(key));
      return link === undefined ? null : { executionId: link.executionId, nodeId: link.nodeId, url: link.url };
    },
    resourceLinkCheck: ({ links }) =>
      links.flatMap((wanted) => {
        const held = tables.links.get(linkKey(wanted));
        if (held === undefined || held.executionId === wanted.executionId) return [];
        const { system, resourceType, resourceId, executionId } = held;
        return [{ system, resourceType, resourceId, executionId }];
      }),
  };
}

function viewOf(tables: Tables, executionId: string): ExecutionView | undefined {
  const execution = tables.executions.get(executionId);
  if (execution === undefined) return undefined;
  const outcome = tables.outcomes.get(executionId);
  const row = tables.queue.get(executionId);
  const status = outcome?.status ?? (row?.epoch === 0 ? 'Pending' : row?.paused === true ? 'Paused' : 'Running');
  return {
    ...execution,
    status,
    startedAt: outcome?.startedAt ?? tables.events.get(executionId)?.[0]?.at ?? null,
    endedAt: outcome?.endedAt ?? null,
    outputs: outcome?.outputs ?? null,
    error: outcome?.error ?? null,
    contextSnapshot: outcome?.contextSnapshot ?? null,
  };
}

function parametersOf(tables: Tables, executionId: string, nodeId: string, startedSeq: number): string | null {
  const row = (tables.events.get(executionId) ?? []).findLast(
    ({ seq, inputs }) => seq <= startedSeq && inputs !== null && Object.hasOwn(JSON.parse(inputs) as object, nodeId),
  );
  return row === undefined ? null : JSON.stringify((JSON.parse(row.inputs!) as Record<string, unknown>)[nodeId]);
}

type OperationStatements = Pick<
  Statements,
  | 'workflowPublish'
  | 'workflowGet'
  | 'definitionGet'
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
    definitionGet({ tenantId, workflowId, version }) {
      const key = JSON.stringify([tenantId, workflowId]);
      const row = tables.definitions.get(key)?.[version - 1];
      return row === undefined ? null : { ...row, status: tables.workflows.get(key)!.status };
    },
    deadLetterList: ({ tenantId, afterId, limit }) =>
      [...tables.deadLetters.values()]
        .filter((letter) => letter.tenantId === tenantId && Number(letter.id) > Number(afterId))
        .slice(0, limit)
        .map(({ tenantId: _tenantId, ...letter }) => letter),
    deadLetterPurge: ({ tenantId, ids }) =>
      ids.filter((id) => tables.deadLetters.get(id)?.tenantId === tenantId && tables.deadLetters.delete(id)).length,
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
  const doomed = [...tables.outcomes.values()]
    .filter(({ executionId, endedAt }) => endedAt < endedBefore && !isReferred(executionId))
    .map(({ executionId }) => executionId)
    .sort()
    .slice(0, limit);
  const { outcomes, executions, events, attempts, checkpoints, inbox, signals, logs } = tables;
  for (const id of doomed) {
    for (const table of [outcomes, executions, events, attempts, checkpoints, inbox, signals, logs]) table.delete(id);
    for (const [key, link] of tables.links) if (link.executionId === id) tables.links.delete(key);
  }
  forgetRunners(tables, endedBefore);
  return doomed.length;
}

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

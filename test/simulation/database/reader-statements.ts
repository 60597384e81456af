// Reading: what people and programs ask for. See src/store/postgres/execution/reader.sql.

import type { ExecutionView } from '../../../src/store/reader-port.ts';
import { linkKey } from './commit-statements.ts';
import type { Statements, Tables } from './tables.ts';

type ReaderStatements = Pick<
  Statements,
  | 'executionGet'
  | 'executionKnown'
  | 'executionEnded'
  | 'executionHeads'
  | 'executionTenant'
  | 'callbackTarget'
  | 'executionAttempts'
  | 'attemptWaits'
  | 'executionJournal'
  | 'executionChildren'
  | 'executionLogs'
  | 'resourceFind'
  | 'resourceLinkCheck'
>;

export function readerStatements(tables: Tables): ReaderStatements {
  return {
    executionKnown: ({ executionIds }) => executionIds.filter((id) => tables.executions.has(id)),
    executionEnded: ({ executionIds }) => executionIds.filter((id) => tables.outcomes.has(id)),
    executionHeads: ({ executionIds }) =>
      executionIds.map((executionId) => ({
        executionId,
        seq: tables.events.get(executionId)?.at(-1)?.seq ?? -1,
        ended: tables.outcomes.has(executionId),
        lineId: 0,
      })),
    executionGet({ tenantId, executionId }) {
      const view = viewOf(tables, executionId);
      return view?.tenantId === tenantId ? view : null;
    },
    executionTenant: ({ executionId }) => tables.executions.get(executionId)?.tenantId ?? null,
    callbackTarget({ executionId, nodeId }) {
      const execution = tables.executions.get(executionId);
      if (execution === undefined) return null;
      const ended = [...(tables.attempts.get(executionId)?.values() ?? [])].filter((row) => row.nodeId === nodeId);
      const last = ended.toSorted((a, b) => b.attempt - a.attempt)[0];
      const skips = (tables.events.get(executionId) ?? []).some(({ facts }) => facts.includes('"NodeSkipped"'));
      return {
        tenantId: execution.tenantId,
        workflowId: execution.workflowId,
        version: execution.version,
        isLive: tables.queue.has(executionId),
        wasReceived: last?.status === 'Succeeded',
        mayBeOver: last !== undefined || skips,
      };
    },
    executionAttempts({ executionId }) {
      const rows = [...(tables.attempts.get(executionId)?.values() ?? [])];
      rows.sort((a, b) => a.startedSeq - b.startedSeq || (a.nodeId < b.nodeId ? -1 : 1) || a.attempt - b.attempt);
      return rows.map((row) => ({ ...row, parameters: parametersOf(tables, executionId, row.nodeId, row.startedSeq) }));
    },
    attemptWaits: ({ executionId, afterSeq, untilSeq }) =>
      [...(tables.attempts.get(executionId)?.values() ?? [])]
        .filter(({ startedSeq }) => startedSeq > afterSeq && startedSeq <= untilSeq)
        .sort((a, b) => a.startedSeq - b.startedSeq || (a.nodeId < b.nodeId ? -1 : 1) || a.attempt - b.attempt)
        .flatMap(({ nodeId, attempt, waitedMs }) => (waitedMs === null ? [] : [{ nodeId, attempt, waitedMs }])),
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
        const held = tables.links.get(linkKey(wanted)) ?? wanted;
        tables.links.set(linkKey(wanted), held);
        if (held.executionId === wanted.executionId) return [];
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
    engineRunRef: tables.externalRuns.get(executionId)?.ref ?? null,
  };
}

function parametersOf(tables: Tables, executionId: string, nodeId: string, startedSeq: number): string | null {
  const row = (tables.events.get(executionId) ?? []).findLast(
    ({ seq, inputs }) => seq <= startedSeq && inputs !== null && Object.hasOwn(JSON.parse(inputs) as object, nodeId),
  );
  return row === undefined ? null : JSON.stringify((JSON.parse(row.inputs!) as Record<string, unknown>)[nodeId]);
}

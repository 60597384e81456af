// The record of an execution that the engine gave up: its outcome, the cause, and the message for a waiting parent (I20). Written
// in one statement with the end of its queue row.

import type { Command } from '../../core/decider/command.ts';
import type { Fact } from '../../core/decider/fact.ts';
import { idOf } from '../../core/decider/frame.ts';
import type { OperationStore } from '../../store/operation-port.ts';
import type { JsonText, LoadedExecution, NewMessage } from '../../store/port.ts';
import { mailBody, mailKey } from './mail.ts';
import type { Resident } from './resident.ts';

type DeadLetterParams = Omit<Parameters<OperationStore['deadLetterAdd']>[0], 'slotId'>;

export interface Burial {
  readonly execution: LoadedExecution;
  readonly error: { readonly code: string; readonly message: string };
  readonly crashes: number;
  /** The next number of the journal, if it is known. */
  readonly seq: number | null;
}

export function deadLetter(
  { execution, error, crashes, seq }: Burial,
  at: number,
  messageId: string,
): DeadLetterParams {
  const { executionId, tenantId } = execution;
  const facts = JSON.stringify([{ type: 'ExecutionFailed', error } satisfies Fact]);
  return {
    outcome: {
      executionId,
      tenantId,
      status: 'Failed',
      outputs: null,
      error: JSON.stringify(error),
      contextSnapshot: null,
      startedAt: at,
      endedAt: at,
    },
    reason: error.code,
    payload: messageOf(execution),
    attempts: crashes,
    lastError: error.message,
    ...(seq === null ? {} : { event: { executionId, seq, at, facts, inputs: null } }),
    sent: newsForParent(execution, error, messageId),
  };
}

export type LetterNote = Omit<Parameters<OperationStore['deadLetterNote']>[0], 'slotId'>;

/** For an execution that goes on with its other compensations. */
export function failedUndo(
  { execution, state }: Resident,
  { node, error }: Extract<Command, { type: 'deadLetter' }>,
): LetterNote {
  const { executionId, tenantId } = execution;
  const lastError = `${idOf(state, node)}: ${error.code}: ${error.message}`;
  const attempts = state.nodes[node]!.attempts;
  return { executionId, tenantId, reason: 'COMPENSATION_FAILED', payload: messageOf(execution), attempts, lastError };
}

/** As the queue knows it. */
function messageOf({ executionId, workflowId, version, requestId, trigger }: LoadedExecution): JsonText {
  const ids = JSON.stringify({ executionId, workflowId, version, requestId });
  return `${ids.slice(0, -1)},"triggerPayload":${trigger}}`;
}

/** The next number of the stored journal; null: unknown. */
export function nextStoredSeq({ journal, checkpoint }: LoadedExecution): number | null {
  const last = journal.at(-1);
  if (last === undefined) return checkpoint?.seq ?? 0;
  try {
    return last.seq + (JSON.parse(last.facts) as unknown[]).length;
  } catch {
    return null;
  }
}

function newsForParent(execution: LoadedExecution, error: { code: string; message: string }, id: string): NewMessage[] {
  const { parentId, parentNode, executionId: childId } = execution;
  if (parentId === null || parentNode === null) return [];
  const mail = { kind: 'child' as const, childId, nodeId: parentNode, status: 'Failed' as const, error };
  return [{ id, executionId: parentId, kind: 'child', key: mailKey(mail), body: mailBody(mail) }];
}

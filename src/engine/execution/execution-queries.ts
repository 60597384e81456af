// What may be asked about executions: lists, events, attempts, the tree below one. Reads only; every question names its
// tenant, and another tenant's execution does not exist (S1).

import { PawlError } from '../../core/error/pawl-error.ts';
import type { Json } from '../../core/json/json.ts';
import { actionTypeOf } from '../../core/plan/action-type.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Store } from '../../store/port.ts';
import type { ExecutionFilter, ExecutionView, LinkView, ListedExecution, TreeRow } from '../../store/reader-port.ts';
import type { PlanSource } from '../environment.ts';
import { type ExecutionEvent, endsAttempts, eventsOf, tellsTheEnd, withMissedSignals } from './execution-event.ts';
import { type Inspection, inspectExecution } from './inspection.ts';

export interface ExecutionQueriesDeps {
  readonly store: Store;
  readonly plans: PlanSource;
  /** Resolves when the execution may have moved on, or after a while. */
  readonly news: (executionId: string) => Promise<void>;
}

export interface AttemptView {
  readonly nodeId: string;
  readonly actionType: string;
  /** 0: skipped, never tried. */
  readonly attempt: number;
  readonly status: 'Running' | 'Succeeded' | 'Failed' | 'RetriableFailure' | 'Cancelled' | 'TimedOut' | 'Skipped';
  readonly reason: string | null;
  readonly parameters: Json | undefined;
  readonly outputs: Json | undefined;
  readonly error: Json | undefined;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

const MAX_LOG_LINES = 10_000;
const MAX_TREE = 10_000;
/** Whoever sees so many wants to know which, not how many more. */
const MAX_COUNT = 1_000;
const STREAM_PAGE = 500;

export class ExecutionQueries {
  private readonly deps: ExecutionQueriesDeps;

  constructor(deps: ExecutionQueriesDeps) {
    this.deps = deps;
  }

  async get(tenantId: string, executionId: string): Promise<ExecutionView> {
    const view = await this.deps.store.executionGet({ tenantId, executionId });
    if (view === null) throw new PawlError('EXECUTION_NOT_FOUND', `no execution ${executionId}`);
    return view;
  }

  /** The execution, or the one that was started with this requestId. */
  async find(tenantId: string, ref: { executionId: string } | { requestId: string }): Promise<ExecutionView> {
    if ('executionId' in ref) return this.get(tenantId, ref.executionId);
    const found = await this.findByRequest(tenantId, ref.requestId);
    if (found === null) throw new PawlError('EXECUTION_NOT_FOUND', `no run ${ref.requestId}`);
    return found;
  }

  async findByRequest(tenantId: string, requestId: string): Promise<ExecutionView | null> {
    const executionId = await this.deps.store.executionByRequest({ tenantId, requestId });
    return executionId === null ? null : this.get(tenantId, executionId);
  }

  list(filter: ExecutionFilter): Promise<ListedExecution[]> {
    return this.deps.store.executionList(filter);
  }

  /** Of the whole list, whatever page is asked for. */
  async count(filter: ExecutionFilter): Promise<{ count: number; isCapped: boolean }> {
    const counted = await this.deps.store.executionCount({ ...filter, beforeId: null, limit: MAX_COUNT + 1 });
    return { count: Math.min(counted, MAX_COUNT), isCapped: counted > MAX_COUNT };
  }

  async children({ executionId }: ExecutionView): Promise<ExecutionView[]> {
    return this.deps.store.executionChildren({ executionId });
  }

  async links({ executionId }: ExecutionView): Promise<LinkView[]> {
    return this.deps.store.executionLinks({ executionId });
  }

  async tree(tenantId: string, executionId: string): Promise<TreeRow[]> {
    const rows = await this.deps.store.executionTree({ tenantId, executionId, limit: MAX_TREE });
    if (rows.length === 0) throw new PawlError('EXECUTION_NOT_FOUND', `no execution ${executionId}`);
    return rows;
  }

  async inspect(tenantId: string, executionId: string): Promise<Inspection> {
    const { store, plans } = this.deps;
    const inspection = await inspectExecution(store, plans, { tenantId, executionId });
    if (inspection === null) throw new PawlError('EXECUTION_NOT_FOUND', `no execution ${executionId}`);
    return inspection;
  }

  /** Every attempt that ended, those at work, and the nodes that were skipped. */
  async attempts(view: ExecutionView): Promise<AttemptView[]> {
    const { store, plans } = this.deps;
    const { tenantId, executionId } = view;
    const inspection = await inspectExecution(store, plans, { tenantId, executionId });
    const rows = inspection?.attempts ?? (await store.executionAttempts({ executionId }));
    const ended = rows.map(
      (row): AttemptView => ({
        nodeId: row.nodeId,
        actionType: row.actionType,
        attempt: row.attempt,
        status: row.status,
        reason: null,
        parameters: parsed(row.parameters),
        outputs: parsed(row.outputs),
        error: parsed(row.error),
        startedAt: row.startedAt,
        endedAt: row.endedAt,
      }),
    );
    return inspection === null
      ? ended
      : [...ended, ...(await this.openAttempts(inspection)), ...skippedNodes(inspection)];
  }

  private async openAttempts({ view: { executionId }, state }: Inspection): Promise<AttemptView[]> {
    const open = state.plan.nodes.flatMap((node, index) => {
      const { status } = state.nodes[index]!;
      return status === 'Running' || status === 'Sleeping' || status === 'Waiting'
        ? [{ node, of: state.nodes[index]! }]
        : [];
    });
    const seqs = [...new Set(open.map(({ of }) => of.renderedSeq).filter((seq) => seq >= 0))];
    const inputs = seqs.length === 0 ? [] : await this.deps.store.executionInputs({ executionId, seqs });
    const inputsAt = new Map(
      inputs.map(({ seq, inputs: text }) => [seq, parsed(text) as Record<string, Json> | undefined]),
    );
    return open.map(({ node, of }) => ({
      nodeId: node.id,
      actionType: actionTypeOf(node.step),
      attempt: of.attempts,
      status: 'Running',
      reason: null,
      parameters: inputsAt.get(of.renderedSeq)?.[node.id],
      outputs: undefined,
      error: undefined,
      startedAt: of.startedAt,
      endedAt: null,
    }));
  }

  /** At most `limit` transitions' worth of events after a seq; `more`: there may be others. */
  async events(
    view: ExecutionView,
    { afterSeq, limit }: { afterSeq: number; limit: number },
  ): Promise<{ events: ExecutionEvent[]; more: boolean }> {
    const { store } = this.deps;
    const { executionId } = view;
    const rows = await store.executionJournalFrom({ executionId, afterSeq, limit: limit + 1 });
    const logs = endsAttempts(rows) ? await store.executionLogs({ executionId, limit: MAX_LOG_LINES }) : [];
    const told = eventsOf(await this.planOf(view), rows, logs, afterSeq);
    const isOver = rows.length <= limit && tellsTheEnd(rows);
    const events = isOver ? withMissedSignals(told, await store.signalMissed({ executionId })) : told;
    const page = wholeFacts(events, limit);
    return { events: page, more: rows.length > limit || page.length < events.length };
  }

  /** Events as they happen, until the execution has ended. A page may be empty: time has passed. */
  async *follow(view: ExecutionView, afterSeq: number, signal: AbortSignal): AsyncGenerator<ExecutionEvent[]> {
    const { tenantId, executionId } = view;
    for (let seq = afterSeq; !signal.aborted; ) {
      const news = this.deps.news(executionId);
      // The status first: what ended before is complete in what is read after.
      const { endedAt } = await this.get(tenantId, executionId);
      const { events, more } = await this.events(view, { afterSeq: seq, limit: STREAM_PAGE });
      seq = events.at(-1)?.seq ?? seq;
      yield events;
      if (more) continue;
      if (endedAt !== null) return;
      await news;
    }
  }

  private async planOf(view: ExecutionView): Promise<Plan | null> {
    const found = await this.deps.plans.plan(view);
    return found === null || 'problem' in found ? null : found.plan;
  }
}

/** Cut between facts, never between a fact and its log lines, which share its seq. */
function wholeFacts(events: ExecutionEvent[], limit: number): ExecutionEvent[] {
  const last = events[limit - 1];
  const next = events[limit];
  if (last === undefined || next === undefined) return events;
  if (next.seq !== last.seq) return events.slice(0, limit);
  return events.filter(({ seq }) => seq <= last.seq);
}

function skippedNodes({ state }: Inspection): AttemptView[] {
  return state.plan.nodes.flatMap((node, index) => {
    const { status, reason, endedAt } = state.nodes[index]!;
    if (status !== 'Skipped') return [];
    const nothing = { parameters: undefined, outputs: undefined, error: undefined, startedAt: null };
    return [
      {
        nodeId: node.id,
        actionType: actionTypeOf(node.step),
        attempt: 0,
        status: 'Skipped' as const,
        reason,
        ...nothing,
        endedAt,
      },
    ];
  });
}

const parsed = (text: string | null): Json | undefined => (text === null ? undefined : (JSON.parse(text) as Json));

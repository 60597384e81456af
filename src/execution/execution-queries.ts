// What may be asked about executions: lists, events, attempts, the tree below one. Reads only; every question names its
// tenant, and another tenant's execution does not exist (S1).

import { allNodes, idOf, planNodeOf } from '../core/decider/frame.ts';
import type { State } from '../core/decider/state.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json } from '../core/json/json.ts';
import { actionTypeOf } from '../core/plan/action-type.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Store } from '../store/port.ts';
import type { ExecutionView, LinkView, TreeRow } from '../store/reader-port.ts';
import type { PlanSource } from '../workflow/plan-cache.ts';
import {
  type ExecutionEvent,
  endsAttempts,
  eventsOf,
  liveEvents,
  ShownLines,
  tellsTheEnd,
  withMissedSignals,
} from './execution-event.ts';
import { foldFacts } from './fact-fold.ts';
import type { FollowedHeads } from './followed-heads.ts';
import { type Inspection, inspectExecution, type LargeReads } from './inspection.ts';

export interface ExecutionQueriesDeps {
  readonly store: Store;
  readonly plans: PlanSource;
  readonly heads: FollowedHeads;
  readonly largeReads: LargeReads;
}

/** Some attempts of an execution, oldest first. */
interface AttemptWindow {
  readonly offset: number;
  readonly limit: number;
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
  /** Parameters and outputs were not read: there were too many bytes before. */
  readonly isCut?: true;
}

const MAX_LOG_LINES = 10_000;
const MAX_TREE = 10_000;
const STREAM_PAGE = 500;
/** Payloads of one answer, and how many rows are read at once: what is read in vain is bounded, too. */
const PAYLOAD_BYTES = 8 * 1024 * 1024;
const CHUNK = 25;

const viewBytes = ({ trigger, spec, outputs, error, contextSnapshot }: ExecutionView): number =>
  [trigger, spec, outputs, error, contextSnapshot].reduce((sum, text) => sum + (text?.length ?? 0), 0);

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

  /** Why an execution could not be handed over to its engine, or why nobody knows how its run is; undefined: all is well. */
  async engineError({ executionId, driver, endedAt }: ExecutionView): Promise<string | undefined> {
    if ((driver ?? null) === null || endedAt !== null) return undefined;
    return (await this.deps.store.externalGet({ executionId }))?.lastError ?? undefined;
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

  /** As many as fit into an answer, at least one: large payloads make short pages. */
  async children({ executionId }: ExecutionView, { offset, limit }: AttemptWindow): Promise<ExecutionView[]> {
    const found: ExecutionView[] = [];
    for (let bytes = 0; found.length < limit; ) {
      const window = { offset: offset + found.length, limit: Math.min(CHUNK, limit - found.length) };
      const rows = await this.deps.store.executionChildren({ executionId, ...window });
      for (const row of rows) {
        bytes += viewBytes(row);
        if (bytes > PAYLOAD_BYTES && found.length > 0) return found;
        found.push(row);
      }
      if (rows.length < window.limit) break;
    }
    return found;
  }

  async links({ executionId }: ExecutionView, window: AttemptWindow): Promise<LinkView[]> {
    return this.deps.store.executionLinks({ executionId, ...window });
  }

  async tree(tenantId: string, executionId: string): Promise<TreeRow[]> {
    const rows = await this.deps.store.executionTree({ tenantId, executionId, limit: MAX_TREE });
    if (rows.length === 0) throw new PawlError('EXECUTION_NOT_FOUND', `no execution ${executionId}`);
    return rows;
  }

  /** How its nodes stand. Of outputs only those of loops are read, which say how many rounds there were. */
  async graph(tenantId: string, executionId: string): Promise<Pick<Inspection, 'view' | 'state'>> {
    const view = await this.get(tenantId, executionId);
    const folded = await foldFacts(this.deps, view);
    if (folded === null) throw new PawlError('EXECUTION_NOT_FOUND', `no execution ${executionId}`);
    const { plan, state } = folded;
    const loops = plan.nodes
      .filter(({ step }) => step.kind === 'forEach' || step.kind === 'repeat')
      .map(({ id }) => id);
    if (loops.length === 0) return { view, state };
    const read = () => this.deps.store.executionAttempts({ executionId, nodeIds: loops });
    for (const { nodeId, outputs } of await this.deps.largeReads.within(view, read)) {
      if (outputs !== null) state.data[nodeId] = JSON.parse(outputs) as Json;
    }
    return { view, state };
  }

  /** Everything of it, outputs included. */
  async inspect(tenantId: string, executionId: string): Promise<Inspection> {
    const { store, plans, largeReads } = this.deps;
    const key = { tenantId, executionId };
    const inspection = await largeReads.within(key, () => inspectExecution(store, plans, key));
    if (inspection === null) throw new PawlError('EXECUTION_NOT_FOUND', `no execution ${executionId}`);
    return inspection;
  }

  /** A page of every attempt that ended, then those at work, then the nodes that were skipped. */
  async attempts(view: ExecutionView, window: AttemptWindow): Promise<AttemptView[]> {
    const { store, largeReads } = this.deps;
    const { executionId } = view;
    const ended = await largeReads.within(view, () => this.endedAttempts(executionId, window), 2 * PAYLOAD_BYTES);
    // Whoever reads the attempts in pages does not pay for the whole execution with each.
    if (ended.length === window.limit) return ended;
    const folded = await foldFacts(this.deps, view);
    if (folded === null) return ended;
    const others = [...(await this.openAttempts(executionId, folded.state)), ...skippedNodes(folded.state)];
    const from = Math.max(0, window.offset - (await store.executionAttemptCount({ executionId })));
    return [...ended, ...others.slice(from, from + window.limit - ended.length)];
  }

  /** A few at a time: once there are enough bytes, the rest comes without parameters and outputs. */
  private async endedAttempts(executionId: string, { offset, limit }: AttemptWindow): Promise<AttemptView[]> {
    const found: AttemptView[] = [];
    for (let bytes = 0; found.length < limit; ) {
      const payloads = bytes <= PAYLOAD_BYTES;
      const most = Math.min(payloads ? CHUNK : limit, limit - found.length);
      const window = { offset: offset + found.length, limit: most, payloads };
      const rows = await this.deps.store.executionAttemptPage({ executionId, ...window });
      for (const { nodeId, actionType, attempt, status, parameters, outputs, error, startedAt, endedAt } of rows) {
        bytes += (parameters?.length ?? 0) + (outputs?.length ?? 0);
        const about = { nodeId, actionType, attempt, status, reason: null, error: parsed(error), startedAt, endedAt };
        const isCut = payloads ? {} : { isCut: true as const };
        found.push({ ...about, parameters: parsed(parameters), outputs: parsed(outputs), ...isCut });
      }
      if (rows.length < most) break;
    }
    return found;
  }

  private async openAttempts(executionId: string, state: State): Promise<AttemptView[]> {
    const open = [...allNodes(state)].flatMap(([index, of]) => {
      const { status } = of;
      const isOpen = status === 'Running' || status === 'Sleeping' || status === 'Waiting';
      return isOpen ? [{ node: { id: idOf(state, index), step: planNodeOf(state, index).step }, of }] : [];
    });
    const seqs = [...new Set(open.map(({ of }) => of.renderedSeq).filter((seq) => seq >= 0))];
    const items = seqs.map((seq) => ({ executionId, seq }));
    const inputs = seqs.length === 0 ? [] : await this.deps.store.executionInputs({ items });
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
    const { heads } = this.deps;
    const shown = new ShownLines();
    let lineSeen = 0;
    for (let seq = afterSeq; !signal.aborted; ) {
      // Listening first: what happens while we read is not missed.
      const listen = () =>
        heads.listen(
          executionId,
          () => seq,
          () => lineSeen,
        );
      let moves = listen();
      try {
        // The status first: what ended before is complete in what is read after.
        const { endedAt } = await this.get(tenantId, executionId);
        const { events, more } = await this.events(view, { afterSeq: seq, limit: STREAM_PAGE });
        seq = events.at(-1)?.seq ?? seq;
        yield shown.news(events);
        if (more) continue;
        if (endedAt !== null) return;
        yield shown.news(await this.liveLines(view, seq));
        let head = await heads.next(moves, signal);
        // Nothing was written: saying that we are here needs no read. Listening goes on before that.
        for (; head === null && !signal.aborted; head = await heads.next(moves, signal)) {
          moves = listen();
          yield [];
        }
        lineSeen = Math.max(lineSeen, head?.lineId ?? 0);
      } finally {
        moves.cancel();
      }
    }
  }

  /** The log of attempts that run, as far as it has been written. */
  async liveLines(view: ExecutionView, seq: number): Promise<ExecutionEvent[]> {
    const lines = await this.deps.store.liveLineList({ executionId: view.executionId, nodeId: null });
    return lines.length === 0 ? [] : liveEvents(await this.planOf(view), lines, seq);
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

function skippedNodes(state: State): AttemptView[] {
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

// The recorded journal of an execution, page by page or as a stream, and one node with the inputs and outputs of all attempts. A
// client that folds the journal with the engine's `evolve` sees the engine's own view at any fact (I15).

import type { Transition } from '../core/decider/fact.ts';
import { nodeAt, planNodeOf } from '../core/decider/frame.ts';
import { type ExecutionStart, initialNode, type NodeState } from '../core/decider/state.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import { actionTypeOf } from '../core/plan/action-type.ts';
import type { Plan } from '../core/plan/plan.ts';
import { nodeIdAt, nodeIndexOf } from '../core/plan/virtual-node.ts';
import type { ActionLogRow, AttemptRow, JsonText, Store } from '../store/port.ts';
import type { AttemptWait, ExecutionView } from '../store/reader-port.ts';
import type { PlanSource } from '../workflow/plan-cache.ts';
import { type FactFold, foldFacts, startOf, transitionOf } from './fact-fold.ts';
import type { FollowedHeads } from './followed-heads.ts';
import { LARGE_READ_BYTES, type LargeReads } from './inspection.ts';
import { LoopItems, type LoopPage } from './loop-items.ts';

export interface ExecutionJournalsDeps {
  readonly store: Store;
  readonly plans: PlanSource;
  readonly heads: FollowedHeads;
  readonly largeReads: LargeReads;
}

export interface JournalPage {
  readonly transitions: readonly Transition[];
  /** Attempts of these transitions that waited for a free place. */
  readonly waits: readonly AttemptWait[];
  /** There are more. */
  readonly more: boolean;
}

export interface NodeAttempt {
  readonly attempt: number;
  readonly status: AttemptRow['status'] | 'Running';
  readonly parameters: Json | undefined;
  readonly outputs: JsonText | null;
  readonly error: JsonText | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** The wait for a free place. */
  readonly waitedMs: number | null;
  readonly logs: readonly ActionLogRow[];
}

export interface NodeDetail {
  readonly nodeId: string;
  readonly type: string;
  readonly node: NodeState;
  readonly attempts: readonly NodeAttempt[];
  readonly hasEarlier: boolean;
}

const MAX_ATTEMPTS = 100;
const MAX_LOG_LINES = 1_000;
/** A page ends before it exceeds this, but has at least one transition. */
const PAGE_BYTES = 4 * 1024 * 1024;
const STREAM_PAGE = 500;

export class ExecutionJournals {
  private readonly deps: ExecutionJournalsDeps;

  constructor(deps: ExecutionJournalsDeps) {
    this.deps = deps;
  }

  async page(executionId: string, { afterSeq, limit }: { afterSeq: number; limit: number }): Promise<JournalPage> {
    const rows = await this.deps.store.executionJournal({ executionId, afterSeq, limit: limit + 1 });
    let bytes = 0;
    const fitting = rows.findIndex(({ facts }, at) => {
      bytes += facts.length;
      return at === limit || (at > 0 && bytes > PAGE_BYTES);
    });
    const page = fitting < 0 ? rows : rows.slice(0, fitting);
    const last = page.at(-1)?.seq;
    const waits =
      last === undefined ? [] : await this.deps.store.attemptWaits({ executionId, afterSeq, untilSeq: last });
    return { transitions: page.map(transitionOf), waits, more: page.length < rows.length };
  }

  /** The beginning of a fold; the plan is null when it can no longer be loaded. */
  async beginning(view: ExecutionView): Promise<{ plan: Plan | null; start: ExecutionStart }> {
    const found = await this.deps.plans.plan(view);
    return { plan: found === null || 'problem' in found ? null : found.plan, start: startOf(view) };
  }

  /** Transitions as they are written, until the execution has ended. An empty page means that time has passed. */
  async *follow(view: ExecutionView, after: number, signal: AbortSignal): AsyncGenerator<readonly Transition[]> {
    const { executionId } = view;
    const { heads } = this.deps;
    // If it had ended before, the following reads are complete.
    let hasEnded = view.endedAt !== null;
    for (let afterSeq = after; !signal.aborted; ) {
      // Listens first, so that nothing is missed during the read.
      const listen = () => heads.listen(executionId, () => afterSeq);
      let moves = listen();
      try {
        const { transitions, more } = await this.page(executionId, { afterSeq, limit: STREAM_PAGE });
        afterSeq = transitions.at(-1)?.seq ?? afterSeq;
        hasEnded = transitions.length === 0 ? hasEnded : tellsTheEnd(transitions);
        yield transitions;
        if (more) continue;
        if (hasEnded) return;
        // Also for an end without a fact: a dead letter.
        let head = await heads.next(moves, signal);
        // Nothing was written: a sign of life needs no read. Listening resumes before it.
        for (; head === null && !signal.aborted; head = await heads.next(moves, signal)) {
          moves = listen();
          yield [];
        }
        hasEnded = head?.ended === true;
      } finally {
        moves.cancel();
      }
    }
  }

  node(view: ExecutionView, nodeId: string): Promise<NodeDetail> {
    return this.deps.largeReads.within(view, () => this.readNode(view, nodeId), LARGE_READ_BYTES);
  }

  private async readNode(view: ExecutionView, nodeId: string): Promise<NodeDetail> {
    const { executionId } = view;
    const folded = await foldFacts(this.deps, view);
    const index = folded === null ? -1 : nodeIndexOf(folded.plan, nodeId);
    if (folded === null || index < 0)
      throw new PawlError('NODE_NOT_FOUND', `execution ${executionId} has no such node`);
    // The nodes of a finished item are gone; its attempts are on record.
    const node = nodeAt(folded.state, index) ?? initialNode(0);
    const [rows, logs, live, parametersOf] = await Promise.all([
      this.deps.store.nodeAttempts({ executionId, nodeId, limit: MAX_ATTEMPTS + 1 }),
      this.deps.store.nodeLogs({ executionId, nodeId, limit: MAX_LOG_LINES }),
      this.deps.store.liveLineList({ executionId, nodeId }),
      this.parametersOf(executionId, folded, index),
    ]);
    const logsOf = Map.groupBy(logs, ({ attempt }) => attempt);
    const detailed = rows.slice(-MAX_ATTEMPTS).map((row): NodeAttempt => {
      const { attempt, status, outputs, error, startedAt, endedAt, waitedMs, startedSeq } = row;
      const given = { parameters: parametersOf(startedSeq), logs: logsOf.get(attempt) ?? [] };
      return { attempt, status, outputs, error, startedAt, endedAt, waitedMs, ...given };
    });
    const isOpen = node.status === 'Running' || node.status === 'Sleeping' || node.status === 'Waiting';
    const open: NodeAttempt = {
      attempt: node.attempts,
      status: 'Running',
      parameters: parametersOf(node.startedSeq),
      outputs: null,
      error: null,
      startedAt: node.startedAt,
      endedAt: null,
      waitedMs: null,
      logs: live.filter(({ attempt }) => attempt === node.attempts),
    };
    const isGone = nodeAt(folded.state, index) === undefined;
    return {
      nodeId,
      type: actionTypeOf(planNodeOf(folded.state, index).step),
      node: isGone ? { ...node, status: endedAs(rows.at(-1)?.status) } : node,
      attempts: isOpen ? [...detailed, open] : detailed,
      hasEarlier: rows.length > MAX_ATTEMPTS,
    };
  }

  /** Items or rounds of a loop with ended attempts, after the given index. */
  items(view: ExecutionView, nodeId: string, page: { after: number; limit: number }): Promise<LoopPage> {
    return new LoopItems(this.deps).page(view, nodeId, page.after, page.limit);
  }

  /** Parameters are recorded where they were rendered; retries reuse the latest before them. */
  private async parametersOf(
    executionId: string,
    { plan, transitions }: FactFold,
    index: number,
  ): Promise<(startedSeq: number) => Json | undefined> {
    const nodeId = nodeIdAt(plan, index);
    const seqs = transitions.flatMap(({ seq, facts }) =>
      facts.some((fact) => fact.type === 'NodeStarted' && fact.node === index) ? [seq] : [],
    );
    const newest = seqs.slice(-MAX_ATTEMPTS);
    const items = newest.map((seq) => ({ executionId, seq }));
    const rows = newest.length === 0 ? [] : await this.deps.store.executionInputs({ items });
    const recorded = rows.flatMap(({ seq, inputs }) => {
      const parameters = inputs === null ? undefined : (JSON.parse(inputs) as JsonObject)[nodeId];
      return parameters === undefined ? [] : [{ seq, parameters }];
    });
    recorded.sort((one, other) => one.seq - other.seq);
    return (startedSeq) => recorded.findLast(({ seq }) => seq <= startedSeq)?.parameters;
  }
}

function endedAs(status: AttemptRow['status'] | undefined): NodeState['status'] {
  if (status === undefined) return 'Pending';
  return status === 'RetriableFailure' ? 'Failed' : status;
}

const ENDS: ReadonlySet<string> = new Set([
  'ExecutionSucceeded',
  'ExecutionFailed',
  'ExecutionCancelled',
  'ExecutionTimedOut',
]);

const tellsTheEnd = (transitions: readonly Transition[]): boolean =>
  ENDS.has(transitions.at(-1)?.facts.at(-1)?.type ?? '');

// Follows the journal of one execution fact by fact, as the facts become durable: in order and without gaps (I15, I17), each
// attempt started and ended once (I3, I14), no timer early or twice (I8), nothing after the end (I13), signals once (I10).

import type { Fact } from '../../src/core/decider/fact.ts';
import { isJsonObject, type Json } from '../../src/core/json/json.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import { nodeIdAt, nodeIndexOf, placeOf, planNodeAt } from '../../src/core/plan/virtual-node.ts';

type Ending = Extract<
  Fact,
  { type: 'NodeSucceeded' | 'NodeFailed' | 'NodeTimedOut' | 'NodeCancelled' | 'RetryScheduled' }
>;
type Beginning = Extract<Fact, { type: 'NodeStarted' | 'NodeSleeping' | 'NodeWaiting' }>;

const ENDS = ['ExecutionSucceeded', 'ExecutionFailed', 'ExecutionCancelled', 'ExecutionTimedOut'];

/** The outputs of a wait that went on without an event. */
const isTimeout = (outputs: Json): boolean => isJsonObject(outputs) && outputs.by === 'timeout';

export class JournalWatch {
  generation = 0;
  /** Takeovers since the last attempt ended. */
  takeovers = 0;
  /** At the last takeover, the crashed runner held nothing else. */
  crashedAlone = false;
  readonly signals = new Map<string, number>();
  private readonly plan: Plan;
  private readonly latestTime: () => number;
  private readonly violate: (invariant: string, what: string) => void;
  private nextSeq = 0;
  private hasEnded = false;
  private deadline: number | null = null;
  /** The statement that recorded each start. */
  private readonly started = new Map<string, number>();
  /** The statement and the epoch that recorded that the execution is stopping. */
  private stopping: { readonly statement: number; readonly epoch: number } | null = null;
  private current = { statement: 0, epoch: 0 };
  private readonly ended = new Set<string>();
  /** When the current wait of a node is over. */
  private readonly until = new Map<number, number>();
  /** Nodes that somebody asked to retry at once, or completed by hand. */
  private readonly hurried = new Set<string>();

  constructor(plan: Plan, deps: { latestTime: () => number; violate: (invariant: string, what: string) => void }) {
    this.plan = plan;
    this.latestTime = deps.latestTime;
    this.violate = deps.violate;
  }

  hasStarted(nodeId: string, attempt: number): boolean {
    return this.started.has(`${attempt}:${nodeId}`);
  }

  /**
   * True while nothing is recorded yet and the plan begins with this node: the claim is the cause of the attempt, and the
   * audit knows who claimed.
   */
  mayBegin(nodeId: string, attempt: number): boolean {
    const index = nodeIndexOf(this.plan, nodeId);
    const written = placeOf(this.plan, index)?.owner ?? index;
    return this.nextSeq === 0 && attempt === 1 && this.plan.start.includes(written);
  }

  /** Whoever runs this attempt in this epoch knows that the execution is stopping, so nothing may start any more. */
  isStopped(nodeId: string, attempt: number, epoch: number): boolean {
    if (this.stopping === null) return false;
    const startedBy = this.started.get(`${attempt}:${nodeId}`) ?? 0;
    return epoch !== this.stopping.epoch || startedBy >= this.stopping.statement;
  }

  follow(seq: number, facts: readonly Fact[], statement: number, epoch: number): void {
    this.current = { statement, epoch };
    if (seq !== this.nextSeq) this.violate('I15', `wrote seq ${seq} where ${this.nextSeq} was next`);
    this.nextSeq = seq + facts.length;
    for (const fact of facts) this.see(fact);
  }

  private see(fact: Fact): void {
    if (this.hasEnded && fact.type !== 'SignalApplied' && fact.type !== 'ExecutionReopened') {
      this.violate('I13', `wrote ${fact.type} after its end`);
    }
    switch (fact.type) {
      case 'NodeStarted':
      case 'NodeSleeping':
      case 'NodeWaiting':
        return this.begin(fact);
      case 'NodeSucceeded':
      case 'NodeFailed':
      case 'NodeTimedOut':
      case 'NodeCancelled':
      case 'RetryScheduled':
        return this.end(fact);
      case 'SignalApplied': {
        this.signals.set(fact.signalId, (this.signals.get(fact.signalId) ?? 0) + 1);
        const { stepId } = fact.payload;
        const isHurry = fact.signal === 'RETRY_STEP' || fact.signal === 'COMPLETE_STEP';
        if (isHurry && typeof stepId === 'string') this.hurried.add(stepId);
        return;
      }
      case 'ExecutionStarted':
        this.deadline = fact.deadline;
        return;
      case 'ExecutionReopened':
        this.hasEnded = false;
        this.generation = fact.generation;
        this.deadline = fact.deadline;
        return;
      case 'ExecutionCompensating':
        // The compensations start now, and nothing else.
        this.stopping = null;
        return;
      case 'ExecutionStopping':
        this.stopping = this.current;
        if (fact.outcome === 'TimedOut') this.requireTime(this.deadline, 'its deadline');
        return;
      default:
        if (!ENDS.includes(fact.type)) return;
        if (fact.type === 'ExecutionTimedOut') this.requireTime(this.deadline, 'its deadline');
        this.hasEnded = true;
        this.stopping = null;
    }
  }

  private begin(fact: Beginning): void {
    const id = nodeIdAt(this.plan, fact.node);
    const { kind } = planNodeAt(this.plan, fact.node).step;
    const key = `${fact.attempt}:${id}`;
    const isChildWait = fact.type === 'NodeWaiting' && fact.kind === 'child';
    const isLoop = (kind === 'forEach' || kind === 'repeat') && fact.type !== 'NodeStarted';
    if (this.started.has(key) && !isChildWait && !isLoop) {
      this.violate('I14', `started ${id} attempt ${fact.attempt} twice`);
    }
    this.started.set(key, this.current.statement);
    const dueAt = this.until.get(fact.node);
    const isDue = fact.type === 'NodeStarted' || (fact.type === 'NodeWaiting' && fact.kind === 'rounds');
    if (isDue && dueAt !== undefined && !this.hurried.has(id)) this.requireTime(dueAt, `the wait of ${id}`);
    this.until.delete(fact.node);
    if (fact.type !== 'NodeStarted' && fact.until !== null) this.until.set(fact.node, fact.until);
  }

  private end(fact: Ending): void {
    const id = nodeIdAt(this.plan, fact.node);
    const { step } = planNodeAt(this.plan, fact.node);
    const key = `${fact.attempt}:${id}`;
    if (!this.started.has(key)) this.violate('I2', `ended ${id} attempt ${fact.attempt}, which never started`);
    // A node that waited for its retry is cancelled under the number of the attempt before.
    if (this.ended.has(key) && fact.type !== 'NodeCancelled') {
      this.violate('I3', `ended ${id} attempt ${fact.attempt} twice`);
    }
    this.ended.add(key);
    const until = this.until.get(fact.node) ?? null;
    const isSleepOver = step.kind === 'sleep' && fact.type === 'NodeSucceeded' && !this.hurried.has(id);
    if (isSleepOver) this.requireTime(until, `the sleep of ${id}`);
    const isOutOfTime = fact.type === 'NodeTimedOut' || (fact.type === 'NodeSucceeded' && isTimeout(fact.outputs));
    if ((step.kind === 'webhook' || step.kind === 'wait') && isOutOfTime) {
      this.requireTime(until, `the wait of ${id}`);
    }
    this.until.delete(fact.node);
    if (fact.type === 'RetryScheduled') this.until.set(fact.node, fact.until);
  }

  private requireTime(due: number | null, what: string): void {
    const now = this.latestTime();
    if (due === null || now < due) this.violate('I8', `${what} was over ${due === null ? '?' : due - now} ms early`);
  }
}

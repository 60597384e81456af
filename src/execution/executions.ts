// Commands on executions from outside: start, cancel, signal, retry, call back, wait for the end. All but the start are messages
// to the execution's mailbox, so they are never lost and never applied twice, whoever owns the execution and whether or not it is
// in memory (I1, I10).

import type { EndStatus } from '../core/decider/fact.ts';
import { heeds, signalRefusal, unknownStep } from '../core/decider/signal.ts';
import { reopens, type SignalType, signalKey } from '../core/decider/signal-type.ts';
import { type Callback, isTerminal, type State } from '../core/decider/state.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { isUuid } from '../core/id/id.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import { nodeIndexOf, planNodeAt } from '../core/plan/virtual-node.ts';
import type { EndedExecution } from '../engine/environment.ts';
import { type Mail, mailBody, mailKey } from '../engine/turn/mail.ts';
import type { Actor } from '../store/audit-port.ts';
import type { JsonText, NewMessage, Store } from '../store/port.ts';
import type { ExecutionView } from '../store/reader-port.ts';
import { AwaitedEnds, type Patience } from './awaited-ends.ts';
import { readCallbackToken } from './callback-token.ts';
import { type AuditWish, type CallbackOutcome, Callbacks } from './callbacks.ts';
import { EventWaits } from './event-waits.ts';
import { foldFacts } from './fact-fold.ts';
import { type Inspection, inspectExecution, type LargeReads } from './inspection.ts';
import { ExecutionStart, type ExecutionStartDeps, type StartRequest } from './start/execution-start.ts';
import type { Started } from './start/starter.ts';

export interface Signal {
  readonly signalId: string;
  readonly type: SignalType;
  readonly payload: JsonObject;
}

export interface ExecutionsDeps extends ExecutionStartDeps {
  readonly callbackKey: Uint8Array;
  readonly mailArrived: (executionId: string) => void;
  /** The same for an execution on another engine. */
  readonly outsideMailArrived?: (executionId: string) => void;
  /** Whether the execution is in this process's memory, so that its end is noticed here; absent: none is. */
  readonly isHere?: (executionId: string) => boolean;
  readonly warn?: (event: string, details: Record<string, unknown>) => void;
  /** Absent: this process does not read whole executions. */
  readonly largeReads?: LargeReads;
}

export interface ExecutionEnd {
  readonly status: EndStatus;
  readonly outputs: JsonText | null;
  readonly error: JsonText | null;
}

/** How long a cancel request waits for the resulting end. */
const CANCELLED_WITHIN_MS = 2_000;

export class Executions {
  private readonly deps: ExecutionsDeps;
  private readonly starting: ExecutionStart;
  private readonly ends: AwaitedEnds;
  private readonly callbacks: Callbacks;
  private readonly eventWaits: EventWaits;

  constructor(deps: ExecutionsDeps) {
    this.deps = deps;
    this.starting = new ExecutionStart(deps);
    const { timers, store, isHere = () => false, warn = () => {} } = deps;
    this.ends = new AwaitedEnds({ timers, store, isHere, warn, read: (...key) => this.require(...key) });
    this.callbacks = new Callbacks({ ...deps, send: (...mail) => this.send(...mail) });
    this.eventWaits = new EventWaits({ store: deps.store, send: (...mail) => this.send(...mail) });
  }

  async start(request: StartRequest): Promise<Started> {
    const started = await this.starting.start(request);
    if (started.isNew) this.ends.started({ tenantId: request.tenantId, executionId: started.executionId });
    return started;
  }

  /** The 95th percentile of recent starts; null: too few to tell. */
  startLatencyP95Ms(): number | null {
    return this.starting.gate.p95Ms();
  }

  /** `repeated`: it was requested before, or has ended as Cancelled. Any other end is a conflict (WFENG002). */
  async cancel(
    tenantId: string,
    executionId: string,
    reason = 'cancelled on request',
    by?: Actor,
    terminate = false,
  ): Promise<{ repeated: boolean }> {
    const how = terminate ? { reason, terminate: true as const } : { reason };
    const record = recordOf(by, 'cancel', executionId, how);
    const { live, fresh } = await this.send(tenantId, executionId, { kind: 'cancel', ...how }, record);
    if (live) return { repeated: !fresh };
    const { status } = await this.require(tenantId, executionId);
    if (status === 'Cancelled') return { repeated: true };
    throw alreadyEnded(status);
  }

  /**
   * Why a signal would be refused right now; null: it would not, or nobody can tell yet, because mail is on its way. Gives
   * the sender an early answer; the decider decides.
   */
  async signalRefusal(
    tenantId: string,
    executionId: string,
    { signalId, type, payload }: Signal,
  ): Promise<string | null> {
    // Reads mail first: mail that was consumed by then is part of the journal that is read next.
    const mail = isUuid(executionId) ? await this.deps.store.inboxRead({ executionIds: [executionId] }) : [];
    const state = await this.stateOf(tenantId, executionId);
    if (!heeds(state, type)) return null;
    if (state.signals.has(signalKey({ signal: type, signalId }))) return null;
    const refusal = mail.length > 0 ? unknownStep : signalRefusal;
    return refusal(state, { signal: type, payload });
  }

  async signal(tenantId: string, executionId: string, signal: Signal, by?: Actor): Promise<{ repeated: boolean }> {
    const mail: Mail = { kind: 'signal', signalId: signal.signalId, signal: signal.type, payload: signal.payload };
    const record = recordOf(by, 'signal', executionId, { ...signal });
    const { live, fresh } = await this.send(tenantId, executionId, mail, record);
    if (live) return { repeated: !fresh };
    const { status } = await this.require(tenantId, executionId);
    if (!reopens(signal.type)) {
      // Also one that was accepted just as the execution ended, and that no decision has seen: it was taken, and too late.
      if (await this.deps.store.signalKnown({ tenantId, executionId, key: signalKey(mail) })) return { repeated: true };
      const state = await this.stateOf(tenantId, executionId);
      // A dead letter whose journal could not be written does not contain its end.
      const canHeed = isTerminal(state.status) && heeds(state, signal.type);
      if (!canHeed) throw alreadyEnded(status);
    }
    const message = this.message(executionId, mail);
    const { reopened } = await this.reopen({ tenantId, executionId, message }, record);
    return { repeated: !reopened };
  }

  /** RETRY_STEP on every failed node. */
  async retry(tenantId: string, executionId: string, by?: Actor): Promise<{ nodes: string[] }> {
    const { nodes, plan } = await this.stateOf(tenantId, executionId);
    const failed = plan.nodes.filter((_, index) => ['Failed', 'TimedOut'].includes(nodes[index]!.status));
    // After compensations, only the undoing itself can be tried again.
    const undo = failed.filter(({ aside }) => aside);
    const again =
      undo.length > 0
        ? undo
        : failed.length > 0
          ? failed
          : plan.nodes.filter((_, index) => nodes[index]!.status === 'Cancelled');
    if (again.length === 0) throw new PawlError('WFENG002', 'no node of the execution has failed');
    const [first, ...more] = again.map(({ id }) => this.message(executionId, retryMail(id, this.deps.newId())));
    const names = again.map(({ id }) => id);
    const record = recordOf(by, 'retry', executionId, { nodes: names });
    const { reopened } = await this.reopen({ tenantId, executionId, message: first!, more }, record);
    if (!reopened) await this.deliver(tenantId, first!, record);
    if (!reopened) for (const message of more) await this.deliver(tenantId, message);
    return { nodes: names };
  }

  /** Answers the callback in place of the other side. */
  async continueWait(
    { tenantId, executionId, nodeId }: { tenantId: string; executionId: string; nodeId: string },
    payload: Json,
    by: Actor,
  ): Promise<void> {
    const state = await this.stateOf(tenantId, executionId);
    const index = nodeIndexOf(state.plan, nodeId);
    const step = index >= 0 ? planNodeAt(state.plan, index).step : null;
    const waits = step?.kind === 'webhook' || (step?.kind === 'wait' && step.callback);
    if (!waits) throw new PawlError('NODE_NOT_FOUND', 'the execution has no such node that waits for a callback');
    const record = recordOf(by, 'callback', executionId, { nodeId });
    const outcome = await this.callbacks.receiveFor({ executionId, nodeId }, payload, {}, record);
    if (outcome !== 'accepted') throw new PawlError('CALLBACK_GONE', 'the node no longer waits for a callback');
  }

  /** Whether the token has a valid signature, whatever the state of its wait. Needs no query. */
  isCallbackToken(token: string): boolean {
    return readCallbackToken(this.deps.callbackKey, token) !== null;
  }

  callBack(token: string, payload: Json, about: Omit<Callback, 'payload'> = {}): Promise<CallbackOutcome> {
    return this.callbacks.receive(token, payload, about);
  }

  async get(tenantId: string, executionId: string): Promise<ExecutionView> {
    return this.require(tenantId, executionId);
  }

  /** Everything, outputs included. */
  async inspect(tenantId: string, executionId: string): Promise<Inspection> {
    await this.require(tenantId, executionId);
    const { store, plans, largeReads } = this.deps;
    const key = { tenantId, executionId };
    const read = () => inspectExecution(store, plans, key);
    const inspection = await (largeReads === undefined ? read() : largeReads.within(key, read));
    if (inspection === null) throw new PawlError('EXECUTION_NOT_FOUND', `no execution ${executionId}`);
    return inspection;
  }

  /** The state of its nodes, without their outputs. */
  private async stateOf(tenantId: string, executionId: string): Promise<State> {
    const folded = await foldFacts(this.deps, await this.require(tenantId, executionId));
    if (folded === null) throw new PawlError('EXECUTION_NOT_FOUND', `no execution ${executionId}`);
    return folded.state;
  }

  /** Resolves when the execution has ended: at once when it ends in this process, otherwise by a look. */
  async result(tenantId: string, executionId: string): Promise<ExecutionEnd> {
    const view = await this.ends.of({ tenantId, executionId }, { waitMs: Number.POSITIVE_INFINITY });
    const { status, outputs, error } = view!;
    return { status: status as EndStatus, outputs, error };
  }

  /** The ended execution; null: it goes on, and the time is up or the caller has left. */
  ended(tenantId: string, executionId: string, patience: Patience): Promise<ExecutionView | null> {
    return this.ends.of({ tenantId, executionId }, patience);
  }

  /**
   * The execution once it has ended, or after two seconds: for a caller that has cancelled it. If it came to another end
   * before the cancel was read, that is a conflict (WFENG002), as if the cancel had come a moment later.
   */
  async cancelledSoon(tenantId: string, executionId: string): Promise<ExecutionView> {
    const ended = await this.ended(tenantId, executionId, { waitMs: CANCELLED_WITHIN_MS });
    const now = ended ?? (await this.require(tenantId, executionId));
    if (now.endedAt !== null && now.status !== 'Cancelled') throw alreadyEnded(now.status);
    return now;
  }

  /** This process's runner reports the end of an execution. */
  tellEnd(ended: EndedExecution): void {
    this.ends.tell(ended);
  }

  /** Delivers an event to the executions that wait for it. Returns how many there were. */
  tellWaiting(tenantId: string, event: { id: string; type: string; data: Json }): Promise<number> {
    return this.eventWaits.tell(tenantId, event);
  }

  private async require(tenantId: string, executionId: string): Promise<ExecutionView> {
    // Ids are checked before any look-up (S9).
    const view = isUuid(executionId) ? await this.deps.store.executionGet({ tenantId, executionId }) : null;
    if (view === null) throw new PawlError('EXECUTION_NOT_FOUND', `no execution ${executionId}`);
    return view;
  }

  private async send(tenantId: string, executionId: string, mail: Mail, record?: AuditWish): Promise<Delivery> {
    if (!isUuid(executionId)) return { live: false, fresh: false };
    return this.deliver(tenantId, this.message(executionId, mail), record);
  }

  private async deliver(tenantId: string, message: NewMessage, record?: AuditWish): Promise<Delivery> {
    const work = (store: Store) => store.inboxSend({ message, tenantId });
    const { live, fresh, isExternal } = await this.recorded(tenantId, record, work, (sent) => sent.fresh);
    if (live && isExternal) this.deps.outsideMailArrived?.(message.executionId);
    else if (live) this.deps.mailArrived(message.executionId);
    return { live, fresh };
  }

  private async reopen(params: Reopening, record: AuditWish | undefined): Promise<{ reopened: boolean }> {
    const work = (store: Store) => store.executionReopen(params);
    const { reopened } = await this.recorded(params.tenantId, record, work, (outcome) => outcome.reopened);
    if (reopened) {
      this.deps.workWanted();
      this.deps.drivers?.wanted();
    }
    return { reopened };
  }

  /** In one transaction with its audit record, if there is one. */
  private recorded<Result>(
    tenantId: string,
    record: AuditWish | undefined,
    work: (store: Store) => Promise<Result>,
    happened: (result: Result) => boolean,
  ): Promise<Result> {
    const { store } = this.deps;
    if (record === undefined) return work(store);
    const { by, deed } = record;
    return store.audited({ tenantId, by, work, deed: (result) => (happened(result) ? deed : null) });
  }

  private message(executionId: string, mail: Mail): NewMessage {
    return { id: this.deps.newId(), executionId, kind: mail.kind, key: mailKey(mail), body: mailBody(mail) };
  }
}

interface Delivery {
  readonly live: boolean;
  readonly fresh: boolean;
}

type Reopening = Parameters<Store['executionReopen']>[0];

function recordOf(
  by: Actor | undefined,
  action: string,
  executionId: string,
  details: JsonObject,
): AuditWish | undefined {
  if (by === undefined) return undefined;
  return { by, deed: { action: `execution.${action}`, target: `execution/${executionId}`, details } };
}

function alreadyEnded(status: string): PawlError {
  return new PawlError('WFENG002', `the execution has already ended as ${status}`);
}

function retryMail(stepId: string, signalId: string): Mail {
  return { kind: 'signal', signalId, signal: 'RETRY_STEP', payload: { stepId, force: true } };
}

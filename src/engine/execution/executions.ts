// What may be asked of executions from outside: start, cancel, signal, retry, call back, wait for the end. Everything but
// the start is a message into the execution's mailbox, so it is never lost and never applied twice, whoever owns the
// execution and whether it is in memory or not (I1, I10).

import type { EndStatus, SignalType } from '../../core/decider/fact.ts';
import { heeds, signalRefusal, unknownStep } from '../../core/decider/signal.ts';
import { signalKey } from '../../core/decider/signal-key.ts';
import { type Callback, isTerminal } from '../../core/decider/state.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { isUuid } from '../../core/id/id.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { Actor, Deed } from '../../store/audit-port.ts';
import type { NewMessage, Store } from '../../store/port.ts';
import type { ExecutionView } from '../../store/reader-port.ts';
import type { EndedExecution, PlanSource } from '../environment.ts';
import { ExecutionStart, type ExecutionStartDeps, type StartRequest } from '../start/execution-start.ts';
import type { Started } from '../start/starter.ts';
import { type Mail, mailBody, mailKey } from '../turn/mail.ts';
import { type CallbackOutcome, Callbacks } from './callbacks.ts';
import { type ExecutionEnd, ExecutionNews, endOf } from './execution-news.ts';
import { type Inspection, inspectExecution } from './inspection.ts';

export interface Signal {
  readonly signalId: string;
  readonly type: SignalType;
  readonly payload: JsonObject;
}

export interface ExecutionsDeps extends ExecutionStartDeps {
  readonly plans: PlanSource;
  readonly callbackKey: Uint8Array;
  readonly mailArrived: (executionId: string) => void;
}

/** A quarter of a second apart, unless it ends in this process. */
const LOOKS_FOR_THE_END = 8;

export class Executions {
  private readonly deps: ExecutionsDeps;
  private readonly starting: ExecutionStart;
  private readonly endNews: ExecutionNews;
  private readonly callbacks: Callbacks;

  constructor(deps: ExecutionsDeps) {
    this.deps = deps;
    this.starting = new ExecutionStart(deps);
    this.endNews = new ExecutionNews(deps.timers);
    this.callbacks = new Callbacks({ ...deps, send: (...mail) => this.send(...mail) });
  }

  start(request: StartRequest): Promise<Started> {
    return this.starting.start(request);
  }

  /** What all but one in twenty of the last starts took; null: too few to tell. */
  startLatencyP95Ms(): number | null {
    return this.starting.gate.p95Ms();
  }

  /** `repeated`: it was asked before, or has ended as Cancelled. Ended otherwise is a conflict (WFENG002). */
  async cancel(
    tenantId: string,
    executionId: string,
    reason = 'cancelled on request',
    by?: Actor,
  ): Promise<{ repeated: boolean }> {
    const record = recordOf(by, 'cancel', executionId, { reason });
    const { live, fresh } = await this.send(tenantId, executionId, { kind: 'cancel', reason }, record);
    if (live) return { repeated: !fresh };
    const { status } = await this.require(tenantId, executionId);
    if (status === 'Cancelled') return { repeated: true };
    throw alreadyEnded(status);
  }

  /**
   * Why a signal would be refused as things stand; null: it would not, or nobody can tell yet, because mail is on its way. It
   * spares whoever sends it from finding out later; the last word has the decider.
   */
  async signalRefusal(
    tenantId: string,
    executionId: string,
    { signalId, type, payload }: Signal,
  ): Promise<string | null> {
    // Mail first: what was read by then is part of the journal that is read after.
    const mail = isUuid(executionId) ? await this.deps.store.inboxRead({ executionIds: [executionId] }) : [];
    const { state } = await this.inspect(tenantId, executionId);
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
    if (signal.type !== 'RETRY_STEP') {
      // Also one that was accepted just as the execution ended, and that no decision has seen: it was taken, and too late.
      if (await this.deps.store.signalKnown({ tenantId, executionId, key: signalKey(mail) })) return { repeated: true };
      const { state } = await this.inspect(tenantId, executionId);
      // A dead letter whose journal could not be written does not know of its end.
      const canHeed = isTerminal(state.status) && heeds(state, signal.type);
      if (!canHeed) throw alreadyEnded(status);
    }
    const message = this.message(executionId, mail);
    const { reopened } = await this.reopen({ tenantId, executionId, message }, record);
    return { repeated: !reopened };
  }

  /** RETRY_STEP on every node that failed. */
  async retry(tenantId: string, executionId: string, by?: Actor): Promise<{ nodes: string[] }> {
    const inspection = await this.inspect(tenantId, executionId);
    const { nodes, plan } = inspection.state;
    const failed = plan.nodes.filter((_, index) => ['Failed', 'TimedOut'].includes(nodes[index]!.status));
    const again = failed.length > 0 ? failed : plan.nodes.filter((_, index) => nodes[index]!.status === 'Cancelled');
    if (again.length === 0) throw new PawlError('WFENG002', 'no node of the execution has failed');
    const [first, ...more] = again.map(({ id }) => this.message(executionId, retryMail(id, this.deps.newId())));
    const names = again.map(({ id }) => id);
    const record = recordOf(by, 'retry', executionId, { nodes: names });
    const { reopened } = await this.reopen({ tenantId, executionId, message: first!, more }, record);
    if (!reopened) await this.deliver(tenantId, first!, record);
    if (!reopened) for (const message of more) await this.deliver(tenantId, message);
    return { nodes: names };
  }

  callBack(token: string, payload: Json, about: Omit<Callback, 'payload'> = {}): Promise<CallbackOutcome> {
    return this.callbacks.receive(token, payload, about);
  }

  async get(tenantId: string, executionId: string): Promise<ExecutionView> {
    return this.require(tenantId, executionId);
  }

  async inspect(tenantId: string, executionId: string): Promise<Inspection> {
    await this.require(tenantId, executionId);
    const inspection = await inspectExecution(this.deps.store, this.deps.plans, { tenantId, executionId });
    if (inspection === null) throw new PawlError('EXECUTION_NOT_FOUND', `no execution ${executionId}`);
    return inspection;
  }

  /** Resolves when the execution has ended. Told at once when it ends in this process; asked for otherwise. */
  async result(tenantId: string, executionId: string): Promise<ExecutionEnd> {
    const { view, told } = await this.untilEnded(tenantId, executionId, Number.POSITIVE_INFINITY);
    const { status, outputs, error } = view;
    return told ?? { status: status as EndStatus, outputs, error };
  }

  /**
   * As it is once it has ended, or after two seconds: for whoever has cancelled it, and would like to see that. What came to
   * another end before the cancel was read is a conflict (WFENG002), as if it had been asked a moment later.
   */
  async cancelledSoon(tenantId: string, executionId: string): Promise<ExecutionView> {
    const { view, told } = await this.untilEnded(tenantId, executionId, LOOKS_FOR_THE_END);
    const now = told === null ? view : await this.require(tenantId, executionId);
    if (now.endedAt !== null && now.status !== 'Cancelled') throw alreadyEnded(now.status);
    return now;
  }

  /** As it was at the last look, and what this process was told of its end after that. */
  private async untilEnded(
    tenantId: string,
    executionId: string,
    looks: number,
  ): Promise<{ view: ExecutionView; told: ExecutionEnd | null }> {
    for (let left = looks; ; left--) {
      const news = this.endNews.next(executionId);
      try {
        const view = await this.require(tenantId, executionId);
        if (view.endedAt !== null || left === 0) return { view, told: null };
        const ended = await news.promise;
        const told = ended === null ? null : endOf(ended);
        if (told !== null) return { view, told };
      } finally {
        news.cancel();
      }
    }
  }

  /** Resolves when the execution has ended in this process, or after a while. */
  async news(executionId: string): Promise<void> {
    await this.endNews.next(executionId).promise;
  }

  ended(ended: EndedExecution): void {
    this.endNews.tell(ended);
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
    const { live, fresh } = await this.recorded(tenantId, record, work, (sent) => sent.fresh);
    if (live) this.deps.mailArrived(message.executionId);
    return { live, fresh };
  }

  private async reopen(params: Reopening, record: AuditWish | undefined): Promise<{ reopened: boolean }> {
    const work = (store: Store) => store.executionReopen(params);
    const { reopened } = await this.recorded(params.tenantId, record, work, (outcome) => outcome.reopened);
    if (reopened) this.deps.workWanted();
    return { reopened };
  }

  /** In one transaction with the record of it, where somebody asked for it. */
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

interface AuditWish {
  readonly by: Actor;
  readonly deed: Deed;
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

// Callbacks from outside: finds the wait of a token and gives a truthful answer. An accepted callback counts (I10): the engine
// reads mail before it acts on a timeout, and a callback during such a decision is answered with the outcome of the wait.

import type { Timers } from '../clock/timers.ts';
import { nodeAt } from '../core/decider/frame.ts';
import { type Callback, callbackOf, isFinal } from '../core/decider/state.ts';
import { timeOfId } from '../core/id/id.ts';
import type { Json } from '../core/json/json.ts';
import { nodeIndexOf } from '../core/plan/virtual-node.ts';
import type { Mail } from '../engine/turn/mail.ts';
import type { Actor, Deed } from '../store/audit-port.ts';
import type { Store } from '../store/port.ts';
import type { PlanSource, VersionKey } from '../workflow/plan-cache.ts';
import { readCallbackToken } from './callback-token.ts';
import { foldFacts } from './fact-fold.ts';

/** unknown: no such token. gone: the wait ended without a callback. */
export type CallbackOutcome = 'accepted' | 'unknown' | 'gone';

export interface CallbacksDeps {
  readonly store: Store;
  readonly plans: PlanSource;
  readonly timers: Timers;
  readonly wallClockMs: () => number;
  readonly callbackKey: Uint8Array;
  readonly send: (
    tenantId: string,
    executionId: string,
    mail: Mail,
    record?: AuditWish,
  ) => Promise<{ readonly live: boolean }>;
}

/** Written in one transaction with its subject. */
export interface AuditWish {
  readonly by: Actor;
  readonly deed: Deed;
}

interface Wait {
  readonly tenantId: string;
  readonly executionId: string;
  readonly nodeId: string;
}

/** A wait this far from its end is certainly not being ended: clocks differ, and a busy runner is late. */
const NEAR_END_MS = 10_000;
const LOOK_AGAIN_MS = 25;
const LOOKS = 80;

export class Callbacks {
  private readonly deps: CallbacksDeps;

  constructor(deps: CallbacksDeps) {
    this.deps = deps;
  }

  async receive(token: string, payload: Json, about: Omit<Callback, 'payload'>): Promise<CallbackOutcome> {
    const target = readCallbackToken(this.deps.callbackKey, token);
    return target === null ? 'unknown' : this.receiveFor(target, payload, about);
  }

  /** `record`: the audit record, when a person answered in place of the other side. */
  async receiveFor(
    target: { readonly executionId: string; readonly nodeId: string },
    payload: Json,
    about: Omit<Callback, 'payload'> = {},
    record?: AuditWish,
  ): Promise<CallbackOutcome> {
    const { store, send } = this.deps;
    const { executionId, nodeId } = target;
    const found = await store.callbackTarget(target);
    if (found === null) return 'unknown';
    const timeoutMs = await this.timeoutOf(found, nodeId);
    if (timeoutMs === undefined) return 'unknown';
    const { tenantId, isLive, wasReceived, mayBeOver } = found;
    const wait = { tenantId, executionId, nodeId };
    if (!isLive) return wasReceived ? 'accepted' : this.afterEnd(wait);
    const { stands } = mayBeOver ? await this.look(wait) : { stands: 'open' as const };
    if (stands !== 'open') return stands;
    const mail: Mail = { kind: 'webhook', nodeId, ...callbackOf({ payload, ...about }) };
    const { live } = await send(tenantId, executionId, mail, record);
    if (live) return this.mayBeEnding(executionId, timeoutMs) ? this.whatBecomesOf(wait) : 'accepted';
    // It ended in between, perhaps by an earlier delivery of this very callback.
    return this.afterEnd(wait);
  }

  private async afterEnd(wait: Wait): Promise<CallbackOutcome> {
    const { stands } = await this.look(wait);
    return stands === 'accepted' ? 'accepted' : 'gone';
  }

  /** The timeout of the node's wait or its execution; null: none, or unknown. undefined: no such node. */
  private async timeoutOf(version: VersionKey, nodeId: string): Promise<number | null | undefined> {
    const loaded = await this.deps.plans.plan(version);
    if (loaded === null || 'problem' in loaded) return null;
    const { nodes, timeoutMs } = loaded.plan;
    const step = nodes.find(({ id }) => id === nodeId)?.step;
    return step && earlier(step.kind === 'webhook' || step.kind === 'wait' ? step.timeoutMs : null, timeoutMs);
  }

  /** No wait begins before its execution. Nearly always that is enough to know, without a read. */
  private mayBeEnding(executionId: string, timeoutMs: number | null): boolean {
    return timeoutMs !== null && this.deps.wallClockMs() > timeOfId(executionId) + timeoutMs - NEAR_END_MS;
  }

  private async whatBecomesOf(wait: Wait): Promise<CallbackOutcome> {
    for (let looks = LOOKS; looks > 0; looks--) {
      const { stands, until } = await this.look(wait);
      if (stands !== 'open') return stands;
      if (until === null || until - this.deps.wallClockMs() > NEAR_END_MS) return 'accepted';
      await new Promise<void>((resolve) => this.deps.timers.after(LOOK_AGAIN_MS, resolve));
    }
    // No process holds it: the next owner reads this callback first.
    return 'accepted';
  }

  private async look(wait: Wait): Promise<{ stands: CallbackOutcome | 'open'; until: number | null }> {
    const view = await this.deps.store.executionGet(wait);
    const folded = view === null ? null : await foldFacts(this.deps, view);
    const node = folded === null ? undefined : nodeAt(folded.state, nodeIndexOf(folded.plan, wait.nodeId));
    if (folded === null || node === undefined) return { stands: 'unknown', until: null };
    if (!isFinal(node.status)) {
      const until = node.status === 'Waiting' ? node.until : null;
      return { stands: 'open', until: earlier(until, folded.state.deadline) };
    }
    // An early callback was accepted, even if its wait was skipped later: a repetition is the same one.
    const cameOnce = node.status === 'Succeeded' || node.early !== null;
    return { stands: cameOnce ? 'accepted' : 'gone', until: null };
  }
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

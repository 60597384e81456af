// Outside causes that fire triggers: a webhook, an event, a person. Each firing has an id from its cause, so a repetition starts
// nothing new and gets the same execution as its answer (S7). A firing is recorded before it is answered.

import { SharedLookup } from '../clock/shared-lookup.ts';
import type { Verification, WebhookSettings } from '../core/definition/webhook-schema.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { TriggerRecord, TriggerStore } from '../store/trigger-port.ts';
import type { Judge } from './activation.ts';
import { EventListeners, type Listener, type TriggerEvent } from './event-listeners.ts';
import {
  type Fired,
  type FiringContext,
  type FiringRequest,
  fireTrigger,
  firingOf,
  isRepetition,
  type StartExecution,
  type TriggerObserver,
} from './firing.ts';
import { triggerNotFound } from './triggers.ts';
import { challengeIn, hubChallengeIn } from './webhook/challenge.ts';
import { deliveryIdOf } from './webhook/delivery-id.ts';
import { type ProofDeps, prove, type SignedRequest } from './webhook/proof.ts';
import { sampleFor } from './webhook/sample.ts';
import { kindOf, schemeOf } from './webhook/scheme.ts';
import { verificationOf } from './webhook/settings.ts';

export interface IntakeDeps {
  readonly store: TriggerStore;
  readonly start: StartExecution;
  readonly judge: Judge;
  readonly observer: TriggerObserver;
  readonly newId: () => string;
  readonly proof: ProofDeps;
  /** Sends an event to the waiting executions and returns their number. Absent: no execution can wait for events. */
  readonly tellWaiting?:
    | ((tenantId: string, event: { id: string; type: string; data: Json }) => Promise<number>)
    | undefined;
  /** Strict: an unsigned request is refused unless its trigger allows it. */
  readonly strict: boolean;
  /** Whether unusable payloads become dead letters; default true. */
  readonly deadLetters?: boolean;
}

export interface WebhookRequest extends SignedRequest, FiringContext {
  /** Reads the body once the sender is known. */
  readonly read: (verification: Verification) => Json | Promise<Json>;
  /** The headers that a workflow may see. */
  readonly visibleHeaders: JsonObject;
}

/** The challenge with which a provider verifies an address. It must be returned. */
export interface Challenged {
  readonly outcome: 'challenged';
  readonly challenge: string;
}

export interface EventRequest {
  /** Absent: every firing is new. */
  readonly id?: string | undefined;
  readonly type: string;
  readonly data: Json;
}

export interface EventAnswer {
  readonly eventId: string;
  /** Executions that waited for the event. */
  readonly waiting: number;
  readonly fired: readonly { readonly triggerId: string; readonly fired: Fired }[];
}

/** How many triggers are fired at once by one event. */
const FIRED_AT_ONCE = 200;

export class Intake {
  private readonly deps: IntakeDeps;
  private readonly listeners: EventListeners;

  /** Requests of one webhook that come together share one reading of it, its secrets included. */
  private readonly webhooks: SharedLookup<Awaited<ReturnType<IntakeDeps['store']['webhookGet']>>>;

  constructor(deps: IntakeDeps) {
    this.deps = deps;
    this.webhooks = new SharedLookup((triggerId) => deps.store.webhookGet({ triggerId }));
    this.listeners = new EventListeners(deps.store, deps.judge);
  }

  async webhook(
    triggerId: string,
    request: WebhookRequest,
  ): Promise<{ fired: Fired | Challenged; awaitedBy: string | null }> {
    const found = await this.webhooks.get(triggerId);
    if (found === null) throw triggerNotFound(triggerId);
    const { trigger, secrets } = found;
    const settings = JSON.parse(trigger.config) as WebhookSettings;
    const verification = this.verificationOf(settings, secrets);
    const proof = await prove(verification, secrets, request, this.deps.proof);
    if (!proof.ok) throw new PawlError(proof.expired ? 'SIGNATURE_EXPIRED' : 'SIGNATURE_INVALID', proof.reason);
    const body = await request.read(verification);
    const challenge = challengeIn(body);
    if (challenge !== null) return { fired: { outcome: 'challenged', challenge }, awaitedBy: null };
    const { deliveryIdHeader } = settings;
    const { headers } = request;
    const id = deliveryIdOf({ verification, deliveryIdHeader, headers, body, seal: proof.seal }) ?? this.deps.newId();
    const fired = await this.fireOne(trigger, {
      ...contextOf(request),
      requestId: `webhook:${triggerId}:${id}`,
      body,
      headers: withoutProof(request.visibleHeaders, verification),
    });
    return { fired, awaitedBy: settings.respond === 'result' ? trigger.tenantId : null };
  }

  /** Meta's verification request, a GET; null: not answered. */
  async hubChallenge(triggerId: string, query: Readonly<Record<string, unknown>>): Promise<string | null> {
    const found = await this.deps.store.webhookGet({ triggerId });
    if (found === null) throw triggerNotFound(triggerId);
    const { verifyToken } = JSON.parse(found.trigger.config) as WebhookSettings;
    return hubChallengeIn(query, verifyToken === undefined ? found.secrets : [verifyToken]);
  }

  /** Sends the trigger a sample request, signed with its own secret. */
  async test(
    key: { tenantId: string; triggerId: string },
    { body, ...context }: FiringContext & { readonly body: Json },
  ): Promise<{ readonly verification: string; readonly answer: Fired | Challenged }> {
    const { triggerId } = key;
    const trigger = await this.deps.store.triggerGet(key);
    const found = trigger === null ? null : await this.deps.store.webhookGet({ triggerId });
    if (found === null) throw triggerNotFound(triggerId);
    const verification = this.verificationOf(JSON.parse(found.trigger.config) as WebhookSettings, found.secrets);
    const rawBody = Buffer.from(JSON.stringify(body));
    const stamp = { id: `test-${this.deps.newId()}`, now: this.deps.proof.now() };
    const sample = sampleFor(verification, found.secrets[0] ?? '', rawBody, stamp);
    const kind = kindOf(verification);
    if (sample === null) {
      throw new PawlError('REQUEST_INVALID', `only the sender can sign a request with the verification ${kind}`);
    }
    const visibleHeaders = { 'content-type': 'application/json', ...sample.headers };
    const request = { ...context, ...sample, rawBody, visibleHeaders, read: () => body };
    const { fired } = await this.webhook(triggerId, request);
    return { verification: kind, answer: fired };
  }

  /** Fires every enabled trigger of the tenant for this type whose filter holds. */
  async event(tenantId: string, { id, type, data }: EventRequest, context: FiringContext): Promise<EventAnswer> {
    const eventId = id ?? this.deps.newId();
    const waiting = (await this.deps.tellWaiting?.(tenantId, { id: eventId, type, data })) ?? 0;
    const event = { id: eventId, type, data };
    const candidates = await this.listeners.candidates(tenantId, event);
    const fired: EventAnswer['fired'][number][] = [];
    for (let from = 0; from < candidates.length; from += FIRED_AT_ONCE) {
      fired.push(...(await this.fireAll(candidates.slice(from, from + FIRED_AT_ONCE), event, context)));
    }
    return { eventId, fired, waiting };
  }

  /** Fires a trigger whether it is enabled or not; its condition still counts. */
  async manual(
    key: { tenantId: string; triggerId: string },
    request: FiringContext & { readonly body: Json; readonly headers: JsonObject; readonly id?: string | undefined },
  ): Promise<Fired> {
    const trigger = await this.deps.store.triggerGet(key);
    if (trigger === null) throw triggerNotFound(key.triggerId);
    const { body, headers, id = this.deps.newId() } = request;
    const requestId = `manual:${key.triggerId}:${id}`;
    return this.fireOne(trigger, { ...contextOf(request), requestId, body, headers, ignoreDisabled: true });
  }

  /** Fires an unusable payload once more; throws the reason if it fails again. */
  async again(
    key: { tenantId: string; triggerId: string },
    request: { readonly requestId: string; readonly body: Json },
  ): Promise<string> {
    const trigger = await this.deps.store.triggerGet(key);
    if (trigger === null) throw triggerNotFound(key.triggerId);
    const fired = await this.fireOne(trigger, { ...request, ignoreDisabled: true });
    if (fired.outcome === 'started') return fired.executionId;
    throw fired.error ?? new PawlError('WORKFLOW_STATE', fired.reason);
  }

  private verificationOf(settings: WebhookSettings, secrets: readonly string[]): Verification {
    const { strict } = this.deps;
    const verification = verificationOf(settings, { hasSecret: secrets.length > 0, strict });
    if (verification === 'none' && strict && settings.allowUnsigned !== true) {
      throw new PawlError('SIGNATURE_INVALID', 'this webhook takes unsigned requests, which are not allowed here');
    }
    return verification;
  }

  private async fireAll(
    candidates: readonly Listener[],
    event: TriggerEvent,
    context: FiringContext,
  ): Promise<EventAnswer['fired']> {
    const judged = await Promise.all(
      candidates.map(async (listener) => ({ ...listener, verdict: await this.listeners.verdict(listener, event) })),
    );
    // A filter that simply does not match is not recorded; a filter that fails is.
    const relevant = judged.filter(({ verdict }) => verdict === null || verdict.holds || verdict.failed);
    const items = await Promise.all(
      relevant.map(async ({ trigger, verdict }) => {
        const request = {
          ...context,
          requestId: `event:${trigger.triggerId}:${event.id}`,
          body: event.data,
          keepRefused: this.deps.deadLetters ?? true,
        };
        if (verdict?.holds !== false)
          return { trigger, request, fired: await fireTrigger(this.deps, trigger, request) };
        const fired: Fired = { outcome: 'condition_false', reason: verdict.reason };
        return { trigger, request, fired };
      }),
    );
    return this.record(items);
  }

  private async fireOne(trigger: TriggerRecord, request: FiringRequest): Promise<Fired> {
    const fired = await fireTrigger(this.deps, trigger, request);
    const [recorded] = await this.record([{ trigger, request, fired }]);
    return recorded!.fired;
  }

  /** An execution that was started stays recorded, whatever happened to its trigger since. */
  private async record(
    items: readonly { trigger: TriggerRecord; request: FiringRequest; fired: Fired }[],
  ): Promise<EventAnswer['fired']> {
    if (items.length === 0) return [];
    const firings = items.map(({ trigger, request, fired }) => firingOf(trigger, request, fired));
    const before = new Map(
      (await this.deps.store.firingAdd({ firings })).map(({ triggerId, executionId }) => [triggerId, executionId]),
    );
    return items.map(({ trigger, fired }) => {
      const { triggerId } = trigger;
      const executionId = fired.outcome === 'started' ? undefined : before.get(triggerId);
      if (executionId !== undefined) return { triggerId, fired: { outcome: 'started', executionId, isNew: false } };
      if (!isRepetition(fired)) this.deps.observer.fired(trigger, fired);
      return { triggerId, fired };
    });
  }
}

function contextOf({ principal, correlationId, traceparent, admit }: FiringContext): FiringContext {
  return { principal, correlationId, traceparent, admit };
}

/** Removes the sender's proof from the headers (S6). */
function withoutProof(headers: JsonObject, verification: Verification): JsonObject {
  const own = schemeOf(verification)?.proofHeaders ?? [];
  const token = typeof verification === 'object' && 'token' in verification ? verification.token.header : undefined;
  const hidden = token === undefined ? own : [...own, token.toLowerCase()];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hidden.includes(name)));
}

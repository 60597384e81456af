// What comes from outside and fires triggers: a webhook, an event, a person. Each firing has an id that its cause gave it, so
// that a repetition starts nothing new and is answered with the same execution (S7). A firing is recorded before it is answered.

import { PawlError } from '../core/error/pawl-error.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { TriggerRecord, TriggerStore } from '../store/trigger-port.ts';
import type { Judge, Verdict } from './activation.ts';
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
import { checkSignature, messageIdOf, type SignedRequest } from './webhook-signature.ts';

export interface IntakeDeps {
  readonly store: TriggerStore;
  readonly start: StartExecution;
  readonly judge: Judge;
  readonly observer: TriggerObserver;
  readonly newId: () => string;
  /** Strict: a webhook without a secret is not let in. */
  readonly strict: boolean;
  /** Whether payloads that cannot be used are kept; they are, unless told otherwise. */
  readonly deadLetters?: boolean;
}

export interface WebhookRequest extends SignedRequest, FiringContext {
  readonly body: Json;
  /** Those of the headers that a workflow may see. */
  readonly visibleHeaders: JsonObject;
}

export interface EventRequest {
  /** Absent: it is nobody's repetition. */
  readonly id?: string | undefined;
  readonly type: string;
  readonly data: Json;
}

export interface EventAnswer {
  readonly eventId: string;
  readonly fired: readonly { readonly triggerId: string; readonly fired: Fired }[];
}

const EVENT_PAGE = 200;

export class Intake {
  private readonly deps: IntakeDeps;

  constructor(deps: IntakeDeps) {
    this.deps = deps;
  }

  async webhook(triggerId: string, request: WebhookRequest): Promise<Fired> {
    const found = await this.deps.store.webhookGet({ triggerId });
    if (found === null) throw triggerNotFound(triggerId);
    const { trigger, secrets } = found;
    const messageId = this.messageId(secrets, request);
    const { body, visibleHeaders: headers } = request;
    return this.fireOne(trigger, {
      ...contextOf(request),
      requestId: `webhook:${triggerId}:${messageId}`,
      body,
      headers,
    });
  }

  /** Every enabled trigger of the tenant that waits for this type, and whose filter holds. */
  async event(tenantId: string, { id, type, data }: EventRequest, context: FiringContext): Promise<EventAnswer> {
    const eventId = id ?? this.deps.newId();
    const fired: EventAnswer['fired'][number][] = [];
    for (let afterId: string | null = null; ; ) {
      const page: TriggerRecord[] = await this.deps.store.eventTriggerList({
        tenantId,
        eventType: type,
        afterId,
        limit: EVENT_PAGE,
      });
      fired.push(...(await this.eventPage(page, { id: eventId, type, data }, context)));
      if (page.length < EVENT_PAGE) return { eventId, fired };
      afterId = page.at(-1)!.triggerId;
    }
  }

  /** Whether it is enabled or not; its condition counts. */
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

  /** What could not be used before, once more; throws what keeps it from starting. */
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

  private messageId(secrets: readonly string[], request: WebhookRequest): string {
    // Nobody proves anything, so an id is only a courtesy of the sender.
    if (secrets.length === 0 && !this.deps.strict) return messageIdOf(request) ?? this.deps.newId();
    const checked = checkSignature(secrets, request);
    if (!checked.ok) throw new PawlError('SIGNATURE_INVALID', checked.reason);
    return checked.messageId;
  }

  private async eventPage(
    page: readonly TriggerRecord[],
    event: { id: string; type: string; data: Json },
    context: FiringContext,
  ): Promise<EventAnswer['fired']> {
    const matching: { trigger: TriggerRecord; verdict: Verdict | null }[] = [];
    for (const trigger of page)
      matching.push({ trigger, verdict: await filterVerdict(trigger, event, this.deps.judge) });
    // One that simply does not match has nothing to do with this event; one that cannot say is worth a record.
    const relevant = matching.filter(({ verdict }) => verdict === null || verdict.holds || verdict.failed);
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

  /** A firing that was started before stays started, whatever has become of its trigger since. */
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

/** null: it has no filter. */
function filterVerdict(
  { config, workflowFormat }: TriggerRecord,
  event: { id: string; type: string; data: Json },
  judge: Judge,
): Promise<Verdict> | null {
  const { filter } = JSON.parse(config) as { filter?: string };
  if (filter === undefined) return null;
  const trigger = workflowFormat === 'pipeline' ? { body: event.data, headers: {} } : event.data;
  return judge.verdict('filter', filter, workflowFormat, { trigger, event });
}

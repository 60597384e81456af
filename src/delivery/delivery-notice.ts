// The texts of delivery notices: what happened to which message, and what happens next. Pure.

import { isoTime } from '../clock/clock.ts';
import type { Json } from '../core/json/json.ts';
import type { Notice } from '../lifecycle/machine/decision.ts';
import type { ClaimedDelivery, DeadDelivery } from '../store/delivery-port.ts';
import type { Timestamp } from '../store/port.ts';
import type { Consumer } from './consumer.ts';
import type { DeliveryOptions } from './environment.ts';

const MAX_NAMED = 100;

type Code = Pick<Consumer, 'code'>;
interface Failure {
  readonly message: string | null;
  readonly retryAt: Timestamp | null;
}

/** null: this is the first attempt. */
export function sentAgain(delivery: ClaimedDelivery, consumer: Code): Notice | null {
  const { stage, attempts, reminders } = delivery;
  if (stage === 'Delivered') {
    const message = `"${consumer.code}" has not said that it processed the ${what(delivery)}: reminder ${reminders}`;
    return { kind: 'ProcessingReminderRaised', message, details: { ...named(delivery, consumer), reminders } };
  }
  if (attempts <= 1) return null;
  // Because there was no answer, or because the consumer asked for it.
  const message = `the ${what(delivery)} is sent to "${consumer.code}" again: attempt ${attempts}`;
  return { kind: 'DeliveryRetryRaised', message, details: { ...named(delivery, consumer), attempts } };
}

export function dispatchFailure(delivery: ClaimedDelivery, consumer: Code, { message, retryAt }: Failure): Notice {
  const text = `the ${what(delivery)} did not reach "${consumer.code}": ${message}`;
  const { attempts } = delivery;
  const details = { ...named(delivery, consumer), attempts, error: message, ...again(retryAt) };
  return { kind: 'DispatchFailure', message: text, details };
}

export function consumerFailure(
  delivery: Pick<ClaimedDelivery, 'ackGuid'> & Partial<ClaimedDelivery>,
  consumer: Code,
  { message, retryAt }: Failure,
): Notice {
  const next = retryAt === null ? 'it is in the dead letters now' : `it is sent again at ${isoTime(retryAt)}`;
  const reason = message === null ? '' : `: ${message}`;
  const text = `"${consumer.code}" failed to process the ${what(delivery)}${reason}; ${next}`;
  const details = { ...named(delivery, consumer), error: message, isDead: retryAt === null, ...again(retryAt) };
  return { kind: 'ConsumerFailure', message: text, details };
}

export function deadAfterAttempts({ ackGuid, attempts }: DeadDelivery, { code: consumer }: Code): Notice {
  const message = `nobody confirmed message ${ackGuid} to "${consumer}" in ${attempts} attempts: it is in the dead letters`;
  return { kind: 'DispatchFailure', message, details: { ackGuid, consumer, attempts, isDead: true } };
}

/** One notice for all of them, because there may be many. */
export function removedUnanswered(ackGuids: readonly string[], { code: consumer }: Code): Notice {
  const hooks = ackGuids.length;
  const [waited, failed] = hooks === 1 ? ['a hook', 'it has'] : [`${hooks} hooks`, 'they have'];
  const message = `${waited} waited for "${consumer}", which was removed: ${failed} failed`;
  return { kind: 'DispatchFailure', message, details: { consumer, hooks, ackGuids: ackGuids.slice(0, MAX_NAMED) } };
}

export function circuitOpened({ code: consumer }: Code, options: DeliveryOptions): Notice {
  const { circuitFailures: failures, deliveredAfterMs } = options;
  const message = `"${consumer}" failed ${failures} times in a row: it is tried with one message every ${deliveredAfterMs} ms until one arrives`;
  return { kind: 'ConsumerFailure', message, details: { consumer, failures, probeMs: deliveredAfterMs } };
}

function named(delivery: Partial<ClaimedDelivery>, { code: consumer }: Code): Record<string, Json> {
  const { ackGuid, kind, source, event, subjectId } = delivery;
  const about = { ackGuid, consumer, kind, source, event, subjectId };
  return Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined)) as Record<string, Json>;
}

/** A transition or execution event has its own name. A hook's name is only in the message. */
function what({ ackGuid, kind, source, event }: Partial<ClaimedDelivery>): string {
  if (kind === undefined) return `message ${ackGuid}`;
  return `${kind === 'hook' ? 'hook on' : kind} "${event}" of ${source} (${ackGuid})`;
}
const again = (retryAt: Timestamp | null) => (retryAt === null ? {} : { retryAt: isoTime(retryAt) });

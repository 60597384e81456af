// Everything that is wrong with a request to register or change a consumer, at once. Where a URL may point is decided when a
// connection is made (S5), not here: a name can mean another address tomorrow.

import { isJsonObject, type Json } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import { type ConsumerKind, consumerKind, isRegisteredKind, REGISTERED_KINDS } from '../protocol/consumer-kind.ts';
import { secretProblem } from '../protocol/webhook-secret.ts';
import type { ConsumerRequest } from './consumer.ts';
import { subscriptionProblems } from './subscription.ts';

/** As policies name them (lifecycle/definition-schema.ts). */
const CODE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const SUBJECT = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;
const MAX_CONCURRENCY = 1_000;
const SETTINGS = ['timeoutMs', 'maxAttempts', 'completeAt', 'subject'];

export interface RequestRules {
  /** Of a consumer that exists. */
  readonly existingKind: ConsumerKind | null;
  /** Of a bus: whether consumers may name this server (host:port). */
  readonly allowsBus: (server: string) => boolean;
}

export function consumerProblems(request: ConsumerRequest, rules: RequestRules): Problem[] {
  const { code, kind, secret, subscriptions, ordering, concurrency, options, isPaused } = request;
  const problems: Problem[] = [];
  const wrong = (path: string, message: string) => problems.push({ code: 'CONSUMER_INVALID', path, message });
  if (typeof code !== 'string' || !CODE.test(code)) {
    wrong('/code', 'must be letters, digits, ".", "_" and "-", at most 100, such as "kyc"');
  }
  if (isRegisteredKind(kind)) problems.push(...urlProblems(kind, request, rules));
  else wrong('/kind', `must be one of ${REGISTERED_KINDS.join(', ')}`);
  if (secret !== undefined) problems.push(...secretProblems(kind, secret));
  if (subscriptions !== undefined) problems.push(...subscriptionProblems(subscriptions));
  if (ordering !== undefined && ordering !== 'delivered' && ordering !== 'processed') {
    wrong('/ordering', 'must be "delivered" or "processed": what the next message of the same instance waits for');
  }
  if (concurrency !== undefined && !isWhole(concurrency, 1, MAX_CONCURRENCY)) {
    wrong('/concurrency', `must be a whole number from 1 to ${MAX_CONCURRENCY}`);
  }
  if (isPaused !== undefined && typeof isPaused !== 'boolean') wrong('/isPaused', 'must be true or false');
  if (options !== undefined) problems.push(...settingsProblems(options));
  if (typeof request.connection === 'string' && kind !== 'webhook') {
    wrong('/connection', `has no meaning for a consumer of kind ${String(kind)}`);
  } else if (request.connection != null && typeof request.connection !== 'string') {
    wrong('/connection', 'must be the name of a connection, or null for none');
  }
  return problems;
}

function urlProblems(kind: ConsumerKind, { url }: ConsumerRequest, { existingKind, allowsBus }: RequestRules) {
  const problem = (message: string): Problem[] => [{ code: 'CONSUMER_INVALID', path: '/url', message }];
  const { protocols, isBus } = consumerKind(kind);
  const wantsUrl = protocols !== undefined;
  if (url === undefined || url === null) {
    const hasOne = url === undefined && existingKind === kind;
    return wantsUrl && !hasOne ? problem(`is needed: where a consumer of kind ${kind} is reached`) : [];
  }
  if (!wantsUrl) return problem(`has no meaning for a consumer of kind ${kind}`);
  const parsed = typeof url === 'string' ? URL.parse(url) : null;
  if (parsed === null) return problem('must be an absolute URL');
  if (parsed.username !== '' || parsed.password !== '') return problem('must not hold credentials; use `secret`');
  if (!protocols.includes(parsed.protocol))
    return problem(`must begin with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
  return isBus !== true || allowsBus(busServer(parsed))
    ? []
    : problem(`names the server ${busServer(parsed)}, which is not in delivery.natsServers; the operator can add it`);
}

/** host:port of a bus, as the operator lists it. */
export const busServer = ({ hostname, port }: URL): string => `${hostname}:${port || consumerKind('nats').port}`;

function secretProblems(kind: Json | undefined, secret: Json): Problem[] {
  const problem = (message: string): Problem[] => [{ code: 'CONSUMER_INVALID', path: '/secret', message }];
  if (typeof secret !== 'string' || secret === '') return problem('must be a text');
  const wanted = isRegisteredKind(kind) ? consumerKind(kind).secret : undefined;
  if (wanted === 'password') return [];
  if (wanted === undefined) return problem(`has no meaning for a consumer of kind ${String(kind)}`);
  const wrong = secretProblem(secret);
  return wrong === undefined ? [] : problem(wrong);
}

function settingsProblems(options: Json): Problem[] {
  const problem = (field: string, message: string): Problem => ({
    code: 'CONSUMER_INVALID',
    path: field === '' ? '/options' : `/options/${field}`,
    message,
  });
  if (!isJsonObject(options)) return [problem('', 'must be an object')];
  const { timeoutMs, maxAttempts, completeAt, subject, ...others } = options;
  return [
    ...Object.keys(others).map((field) => problem(field, `is not known; known are ${SETTINGS.join(', ')}`)),
    ...(timeoutMs === undefined || isWhole(timeoutMs, 10, 300_000)
      ? []
      : [problem('timeoutMs', 'must be a whole number from 10 to 300000')]),
    ...(maxAttempts === undefined || isWhole(maxAttempts, 0, 1_000_000)
      ? []
      : [problem('maxAttempts', 'must be a whole number; 0: no attempt is the last')]),
    ...(completeAt === undefined || completeAt === 'Delivered' || completeAt === 'Processed'
      ? []
      : [problem('completeAt', 'must be "Delivered" or "Processed"')]),
    ...(subject === undefined || (typeof subject === 'string' && SUBJECT.test(subject))
      ? []
      : [problem('subject', 'must be words joined by ".", such as "acme.events"')]),
  ];
}

const isWhole = (value: Json, least: number, most: number): boolean =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

// Finds all problems of a request to register or change a consumer. The protocol's schema checks each field; the rules here
// depend on the kind. Where a URL may point is decided when a connection opens (S5), because a name can resolve to another
// address tomorrow.

import { issueMessage } from '../core/definition/issue-message.ts';
import { didYouMean } from '../core/expression/problem.ts';
import { nearMiss } from '../core/problem/near-miss.ts';
import { pointerOf } from '../core/problem/pointer.ts';
import type { Problem } from '../core/problem/problem.ts';
import { type ConsumerKind, consumerKind, isRegisteredKind } from '../protocol/consumer-kind.ts';
import { consumerRequest, subscriptionsRequest } from '../protocol/delivery.ts';
import { secretProblem } from '../protocol/webhook-secret.ts';
import type { ConsumerRequest } from './consumer.ts';

export interface RequestRules {
  /** null: the consumer is new. */
  readonly existingKind: ConsumerKind | null;
  /** Buses only: whether consumers may name this server (host:port). */
  readonly allowsBus: (server: string) => boolean;
}

export function consumerProblems(request: ConsumerRequest, rules: RequestRules): Problem[] {
  const { kind } = request;
  const ofFields = shapeProblems(consumerRequest, request, '');
  const ofKind = isRegisteredKind(kind) ? kindProblems(kind, request, rules) : [];
  return [...ofFields, ...ofKind.filter(({ path }) => !ofFields.some((each) => each.path === path))].sort(
    (a, b) => FIELDS.indexOf(a.path.split('/')[1]!) - FIELDS.indexOf(b.path.split('/')[1]!),
  );
}

const FIELDS = Object.keys(consumerRequest.shape);

export const subscriptionProblems = (given: unknown): Problem[] =>
  shapeProblems(subscriptionsRequest, given, '/subscriptions');

type Schema = typeof consumerRequest | typeof subscriptionsRequest;

function shapeProblems(schema: Schema, given: unknown, base: string): Problem[] {
  const issues = schema.safeParse(given, { reportInput: true }).error?.issues ?? [];
  return issues.flatMap((issue) => {
    const at = (...more: string[]) => pointerOf([...(issue.path as (string | number)[]), ...more], base);
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => problem(at(key), 'is not a field of a consumer'));
    const near = issue.code === 'invalid_value' ? nearMiss(String(issue.input), issue.values.map(String)) : undefined;
    const suggestion = didYouMean(near);
    return [{ ...problem(at(), issueMessage(issue)), ...(suggestion === undefined ? {} : { suggestion }) }];
  });
}

const problem = (path: string, message: string): Problem => ({ code: 'CONSUMER_INVALID', path, message });

function kindProblems(kind: ConsumerKind, request: ConsumerRequest, rules: RequestRules): Problem[] {
  const { secret, connection } = request;
  return [
    ...urlProblems(kind, request, rules),
    ...(secret === undefined ? [] : secretProblems(kind, String(secret))),
    ...(typeof connection === 'string' && kind !== 'webhook'
      ? [problem('/connection', `has no meaning for a consumer of kind ${kind}`)]
      : []),
  ];
}

function urlProblems(kind: ConsumerKind, { url }: ConsumerRequest, { existingKind, allowsBus }: RequestRules) {
  const wrong = (message: string): Problem[] => [problem('/url', message)];
  const { protocols, isBus } = consumerKind(kind);
  const wantsUrl = protocols !== undefined;
  if (url === undefined || url === null) {
    const hasOne = url === undefined && existingKind === kind;
    return wantsUrl && !hasOne ? wrong(`is needed: where a consumer of kind ${kind} is reached`) : [];
  }
  if (!wantsUrl) return wrong(`has no meaning for a consumer of kind ${kind}`);
  const parsed = typeof url === 'string' ? URL.parse(url) : null;
  if (parsed === null) return wrong('must be an absolute URL');
  if (parsed.username !== '' || parsed.password !== '') return wrong('must not hold credentials; use `secret`');
  if (!protocols.includes(parsed.protocol))
    return wrong(`must begin with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
  return isBus !== true || allowsBus(busServer(parsed))
    ? []
    : wrong(`names the server ${busServer(parsed)}, which is not in delivery.natsServers; the operator can add it`);
}

/** host:port of a bus, as the operator lists it. */
export const busServer = ({ hostname, port }: URL): string => `${hostname}:${port || consumerKind('nats').port}`;

function secretProblems(kind: ConsumerKind, secret: string): Problem[] {
  const wanted = consumerKind(kind).secret;
  if (wanted === 'password') return [];
  if (wanted === undefined) return [problem('/secret', `has no meaning for a consumer of kind ${kind}`)];
  const wrong = secretProblem(secret);
  return wrong === undefined ? [] : [problem('/secret', wrong)];
}

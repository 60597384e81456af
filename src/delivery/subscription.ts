// Which messages a consumer asked for. A subscription names what it wants; what it leaves out may be anything. Events of
// executions come in numbers that nobody wants by accident: they must be asked for, by `kinds`, `types` or `workflows`. Hooks
// go to the consumers of their route, whatever these subscribed to. Pure.

import { didYouMean } from '../core/expression/problem.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import { nearMiss } from '../core/problem/near-miss.ts';
import type { Problem } from '../core/problem/problem.ts';
import { EXECUTION_EVENT_TYPES } from '../protocol/event.ts';
import type { MessageKind } from '../store/delivery-port.ts';

export interface Subscription {
  /** A lifecycle's env, or an execution's environmentId. */
  readonly env?: string;
  /** Name of a lifecycle. */
  readonly definition?: string;
  readonly kinds?: readonly MessageKind[];
  /** Names of events of a lifecycle. */
  readonly events?: readonly string[];
  readonly workflows?: readonly string[];
  /** Types of events of executions: `RunCompleted` and so on. */
  readonly types?: readonly string[];
}

/** What is known of a message when it is decided who gets it. */
export type Subject =
  | { readonly kind: 'transition'; readonly env: string; readonly definition: string; readonly event: string }
  | { readonly kind: 'execution'; readonly env: string; readonly workflow: string; readonly type: string };

interface Subscriber {
  readonly subscribed: readonly Subscription[];
}

export function matching<Consumer extends Subscriber>(consumers: readonly Consumer[], subject: Subject): Consumer[] {
  return consumers.filter(({ subscribed }) => subscribed.some((one) => matches(one, subject)));
}

export function matches(subscription: Subscription, subject: Subject): boolean {
  const { env, kinds } = subscription;
  if (env !== undefined && env !== subject.env) return false;
  if (kinds !== undefined && !kinds.includes(subject.kind)) return false;
  if (subject.kind === 'execution') return asksForExecutions(subscription) && matchesExecution(subscription, subject);
  return !isAboutExecutions(subscription) && matchesTransition(subscription, subject);
}

/** Whether any event of an execution could be for it. */
export function asksForExecutions(subscription: Subscription): boolean {
  if (subscription.definition !== undefined || subscription.events !== undefined) return false;
  return subscription.kinds?.includes('execution') ?? isAboutExecutions(subscription);
}

const isAboutExecutions = ({ workflows, types }: Subscription): boolean =>
  workflows !== undefined || types !== undefined;

function matchesExecution({ workflows, types }: Subscription, { workflow, type }: Subject & { kind: 'execution' }) {
  return (workflows?.includes(workflow) ?? true) && (types?.includes(type) ?? true);
}

function matchesTransition({ definition, events }: Subscription, subject: Subject & { kind: 'transition' }) {
  return (definition === undefined || definition === subject.definition) && (events?.includes(subject.event) ?? true);
}

const KINDS: readonly MessageKind[] = ['transition', 'hook', 'execution'];
/** Of these lists it is known what may be in them; the others hold names that may still come. */
const CHOICES: Readonly<Record<string, readonly string[]>> = { kinds: KINDS, types: EXECUTION_EVENT_TYPES };
const TEXTS = ['env', 'definition'];
const LISTS = ['kinds', 'events', 'workflows', 'types'];
const MAX_SUBSCRIPTIONS = 100;

/** Everything that is wrong with them. What has no problems is a list of subscriptions. */
export function subscriptionProblems(given: Json, at = '/subscriptions'): Problem[] {
  if (!Array.isArray(given)) return [problem(at, 'must be a list, such as [{ "env": "prod", "definition": "loan" }]')];
  if (given.length > MAX_SUBSCRIPTIONS) return [problem(at, `must not have more than ${MAX_SUBSCRIPTIONS} entries`)];
  return given.flatMap((one, index) =>
    isJsonObject(one) ? fieldProblems(one, `${at}/${index}`) : [problem(`${at}/${index}`, 'must be an object')],
  );
}

function fieldProblems(given: JsonObject, at: string): Problem[] {
  return Object.entries(given).flatMap(([field, value]) => {
    const path = `${at}/${field}`;
    if (TEXTS.includes(field)) return isText(value) ? [] : [problem(path, 'must be a text')];
    if (!LISTS.includes(field)) return [problem(path, `is not known; known are ${[...TEXTS, ...LISTS].join(', ')}`)];
    if (!Array.isArray(value) || value.length === 0 || !value.every(isText)) {
      return [problem(path, 'must be a list of texts with at least one entry')];
    }
    return choiceProblems(value, CHOICES[field], path);
  });
}

function choiceProblems(given: readonly string[], known: readonly string[] | undefined, path: string): Problem[] {
  const unknown = known && given.find((name) => !known.includes(name));
  if (known === undefined || unknown === undefined) return [];
  const found = problem(path, `"${unknown}" is none of ${known.join(', ')}`);
  const suggestion = didYouMean(nearMiss(unknown, known));
  return [suggestion === undefined ? found : { ...found, suggestion }];
}

const isText = (value: Json): value is string => typeof value === 'string' && value !== '' && value.length <= 200;
const problem = (path: string, message: string): Problem => ({ code: 'CONSUMER_INVALID', path, message });

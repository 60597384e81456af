// Which messages a consumer subscribed to. An omitted field matches anything. Events of executions are many, so a subscription
// must ask for them explicitly, by `kinds`, `types` or `workflows`. Hooks go to the consumers of their route, whatever these
// subscribed to. Pure.

import type { MessageKind } from '../store/delivery-port.ts';

export interface Subscription {
  /** A lifecycle's env, or an execution's environmentId. */
  readonly env?: string;
  /** The lifecycle's name. */
  readonly definition?: string;
  readonly kinds?: readonly MessageKind[];
  /** Names of a lifecycle's events. */
  readonly events?: readonly string[];
  readonly workflows?: readonly string[];
  /** Event types of executions, such as `RunCompleted`. */
  readonly types?: readonly string[];
}

/** The properties of a message that decide which consumers get it. */
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

/** Whether the subscription can match any event of an execution. */
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

// The rules of a lifecycle: what a trigger does to an instance. Pure: the same machine, instance, trigger and time give the same
// decision. There is no business logic here: the machine says where events lead, the policies say which messages go to whom.

import { evaluate } from '../../core/expression/evaluate.ts';
import type { EvaluationError } from '../../core/expression/evaluation.ts';
import type { Json } from '../../core/json/json.ts';
import type { Decision, Emission, Instance, Notice, Transitioned, Trigger } from './decision.ts';
import { entersState, findEvent, type Machine, type MachineTransition, type Policy, type Route } from './machine.ts';
import { alreadyInState, policyFailed, rejected, type Subject, timeoutTriggered, unknownEvent } from './notice.ts';
import { dueAfterFiring, timeoutOf } from './timeout.ts';

export function transition(machine: Machine, instance: Instance, trigger: Trigger, { now }: { now: number }): Decision {
  const subject: Subject = { machine, instance, trigger };
  const event = findEvent(machine, trigger.event);
  if (event === null) return refusal(unknownEvent(subject));
  const state = machine.states.get(instance.state);
  const move = state?.exits.get(event.name);
  if (move === undefined) {
    // Revision 0 means "not created yet", so the instance cannot already be in a state.
    const isThere = instance.revision > 0 && state?.entries.has(event.name) === true;
    return refusal(isThere ? alreadyInState(subject, event.name) : rejected(subject, event.name));
  }
  const emissions: Emission[] = [{ kind: 'transition', event: event.name, code: event.code }];
  const notices: Notice[] = [];
  if (trigger.cause.type === 'timeout') notices.push(timeoutTriggered(subject, move, trigger.cause.count));
  for (const policy of move.policies) {
    const answer = applies(policy, subject, move, now);
    if (answer === true) emissions.push(...policy.routes.map((route) => emission(policy.name, route)));
    else if (answer !== false) notices.push(policyFailed(subject, policy, move, answer.failure));
  }
  return { facts: [moved(subject, move, now)], emissions, notices };
}

/** A self-transition without `reenter` continues the stay: its start, count and due time stay the same. */
function moved({ machine, instance, trigger }: Subject, move: MachineTransition, now: number): Transitioned {
  const { event, from, to } = move;
  const common = { type: 'Transitioned', event, from, to, revision: instance.revision + 1 } as const;
  if (entersState(move)) {
    const entered = { stateSince: now, timeoutsFired: 0 };
    return { ...common, ...entered, dueAt: timeoutOf(machine, { ...entered, state: to, dueAt: null })?.dueAt ?? null };
  }
  const { stateSince, timeoutsFired } = instance;
  const timeout = machine.states.get(to)!.timeout;
  if (timeout === null) return { ...common, stateSince, timeoutsFired, dueAt: null };
  if (trigger.cause.type === 'timeout') {
    const fired = timeoutsFired + 1;
    return { ...common, stateSince, timeoutsFired: fired, dueAt: dueAfterFiring(timeout, fired, now) };
  }
  return { ...common, stateSince, timeoutsFired, dueAt: timeoutOf(machine, instance)?.dueAt ?? null };
}

/** A condition that cannot be evaluated sends nothing and raises a notice. The transition still happens. */
function applies(
  { when }: Policy,
  subject: Subject,
  move: MachineTransition,
  now: number,
): boolean | { readonly failure: string } {
  if (when === null) return true;
  try {
    return Boolean(evaluate(when.expr, scopeOf(subject, move, now)));
  } catch (error) {
    return { failure: (error as EvaluationError).message };
  }
}

/** The values that a condition can use (policy-reader.ts). A missing payload is null. */
function scopeOf(
  { machine, instance, trigger }: Subject,
  { event, from, to }: MachineTransition,
  now: number,
): Readonly<Record<string, Json>> {
  const { instanceId, externalRef, revision } = instance;
  const { requestId, actor = null, payload = null, cause } = trigger;
  const { id, code } = machine.events.get(event)!;
  return {
    payload,
    instance: { instanceId, externalRef, env: machine.env, definition: machine.name, revision: revision + 1 },
    transition: { event, eventId: id, code, from, to, requestId, actor, at: now, cause: cause.type },
  };
}

function emission(policy: string, route: Route): Emission {
  if (route.kind === 'workflow') return { kind: 'workflow', policy, workflow: route.workflow };
  const { hook, consumers, onSucceeded, onFailed } = route;
  return { kind: 'hook', policy, hook, consumers, onSucceeded, onFailed };
}

function refusal(notice: Notice): Decision {
  return { facts: [], emissions: [], notices: [notice] };
}

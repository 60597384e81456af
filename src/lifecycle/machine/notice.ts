// The notices of a decision: why nothing happened, or what happened without a request.

import { didYouMean } from '../../core/expression/problem.ts';
import type { Json } from '../../core/json/json.ts';
import { nearMiss } from '../../core/problem/near-miss.ts';
import type { Instance, Notice, NoticeKind, Trigger } from './decision.ts';
import type { Machine, MachineTransition, Policy } from './machine.ts';

/** The common fields of one decision's notices. */
export interface Subject {
  readonly machine: Machine;
  readonly instance: Instance;
  readonly trigger: Trigger;
}

export function unknownEvent(subject: Subject): Notice {
  const { machine, trigger } = subject;
  const event = String(trigger.event).slice(0, 100);
  const hint = didYouMean(nearMiss(event, machine.events.keys()));
  const message = `the lifecycle \`${machine.name}\` of \`${machine.env}\` has no event \`${event}\``;
  const details = { event, reason: 'UNKNOWN_EVENT' };
  return notice(subject, 'TransitionRejected', hint === undefined ? message : `${message}; ${hint}`, details);
}

export function rejected(subject: Subject, event: string): Notice {
  const { state } = subject.instance;
  const allowed = [...(subject.machine.states.get(state)?.exits.keys() ?? [])];
  const instead =
    allowed.length === 0 ? 'nothing leads out of it' : `it allows ${allowed.map((name) => `\`${name}\``).join(', ')}`;
  const message = `\`${event}\` is not possible in the state \`${state}\`: ${instead}`;
  return notice(subject, 'TransitionRejected', message, { event, reason: 'NO_TRANSITION', allowed });
}

export function alreadyInState(subject: Subject, event: string): Notice {
  const { externalRef, state } = subject.instance;
  const message = `\`${event}\` changes nothing: \`${externalRef}\` is in the state \`${state}\` already`;
  return notice(subject, 'NoOpAlreadyInState', message, { event });
}

export function timeoutTriggered(subject: Subject, { event, from, to }: MachineTransition, count: number): Notice {
  const message = `\`${subject.instance.externalRef}\` stayed too long in \`${from}\`: \`${event}\` was triggered`;
  return notice(subject, 'TimeoutTriggered', message, { event, from, to, count });
}

export function policyFailed(subject: Subject, policy: Policy, move: MachineTransition, why: string): Notice {
  const { event, from, to } = move;
  const message = `the condition of the policy \`${policy.name}\` could not be evaluated, so nothing was sent for it: ${why}`;
  return notice(subject, 'DispatchFailure', message, { code: 'POLICY_FAILED', policy: policy.name, event, from, to });
}

function notice(subject: Subject, kind: NoticeKind, message: string, details: Readonly<Record<string, Json>>): Notice {
  const { env, name } = subject.machine;
  const { instanceId, externalRef, state, revision } = subject.instance;
  // An instance has no usable id before its first move.
  const known = revision === 0 ? {} : { instanceId };
  const about = { env, definition: name, externalRef, ...known, state, requestId: subject.trigger.requestId };
  return { kind, message, details: { ...about, ...details } };
}

// A machine as database rows.

import type { Machine, MachineState, Policy, Route } from './machine.ts';

export interface LifecycleRows {
  readonly env: string;
  readonly name: string;
  readonly checksum: string;
  /** The written text. */
  readonly definition: string;
  readonly policies: string | null;
  readonly states: StateRow[];
  readonly events: { name: string; eventId: string; code: number | null }[];
  readonly transitions: { fromState: string; event: string; toState: string; reenter: boolean }[];
  readonly policyRows: { name: string; ordinal: number; on: string; condition: string | null }[];
  readonly routes: RouteRow[];
}

interface StateRow {
  name: string;
  isInitial: boolean;
  isFinal: boolean;
  timeoutMs: number | null;
  timeoutEvent: string | null;
  timeoutMode: 'once' | 'repeat' | null;
  timeoutMax: number | null;
  timeoutIntervalMs: number | null;
}

interface RouteRow {
  policy: string;
  ordinal: number;
  hook: string | null;
  workflow: string | null;
  consumers: string[];
  onSucceeded: string | null;
  onFailed: string | null;
}

export function lifecycleRows(machine: Machine, definition: object, policies: object | null): LifecycleRows {
  return {
    env: machine.env,
    name: machine.name,
    checksum: machine.checksum,
    definition: JSON.stringify(definition),
    policies: policies === null ? null : JSON.stringify(policies),
    states: [...machine.states.values()].map((state) => stateRow(state, machine.initial)),
    events: [...machine.events.values()].map(({ name, id, code }) => ({ name, eventId: id, code })),
    transitions: machine.transitions.map(({ from, event, to, reenter }) => {
      return { fromState: from, event, toState: to, reenter };
    }),
    policyRows: machine.policies.map(({ name, on, when }, ordinal) => {
      return { name, ordinal, on: JSON.stringify(selectorAsWritten(on)), condition: when?.source ?? null };
    }),
    routes: machine.policies.flatMap(({ name, routes }) =>
      routes.map((route, ordinal) => routeRow(name, route, ordinal)),
    ),
  };
}

function stateRow({ name, isFinal, timeout }: MachineState, initial: string): StateRow {
  return {
    name,
    isInitial: name === initial,
    isFinal,
    timeoutMs: timeout?.afterMs ?? null,
    timeoutEvent: timeout?.event ?? null,
    timeoutMode: timeout?.mode ?? null,
    timeoutMax: timeout?.max ?? null,
    timeoutIntervalMs: timeout?.mode === 'repeat' ? timeout.intervalMs : null,
  };
}

function selectorAsWritten(on: Policy['on']): object {
  if (on.kind === 'state') return { state: on.state };
  const given = Object.entries(on).filter(([key, value]) => key !== 'kind' && value !== null);
  return { transition: Object.fromEntries(given) };
}

function routeRow(policy: string, route: Route, ordinal: number): RouteRow {
  const nothing = { hook: null, workflow: null, consumers: [], onSucceeded: null, onFailed: null };
  if (route.kind === 'workflow') return { policy, ordinal, ...nothing, workflow: route.workflow };
  const { hook, consumers, onSucceeded, onFailed } = route;
  return { policy, ordinal, ...nothing, hook, consumers: [...consumers], onSucceeded, onFailed };
}

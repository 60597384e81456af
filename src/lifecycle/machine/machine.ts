// A compiled machine: immutable, every name resolved, each transition with its policies, so that deciding a trigger takes two
// lookups. Only compileLifecycle makes it, and has checked everything that this file relies on.

import type { Expr } from '../../core/expression/ast.ts';

export interface Machine {
  readonly env: string;
  readonly name: string;
  readonly initial: string;
  /** Of definition and policies together, independent of key order. */
  readonly checksum: string;
  /** In written order. */
  readonly states: ReadonlyMap<string, MachineState>;
  readonly events: ReadonlyMap<string, MachineEvent>;
  /** By id, and by code as text. */
  readonly eventsByKey: ReadonlyMap<string, MachineEvent>;
  readonly transitions: readonly MachineTransition[];
  readonly policies: readonly Policy[];
}

export interface MachineState {
  readonly name: string;
  readonly isFinal: boolean;
  readonly timeout: StateTimeout | null;
  /** Transitions out of the state, by event. */
  readonly exits: ReadonlyMap<string, MachineTransition>;
  /** Events that lead into the state, from any other. */
  readonly entries: ReadonlySet<string>;
}

export interface StateTimeout {
  readonly afterMs: number;
  readonly event: string;
  readonly mode: 'once' | 'repeat';
  /** How often it may fire in one stay; null: without limit. */
  readonly max: number | null;
  readonly intervalMs: number;
}

export interface MachineEvent {
  readonly name: string;
  readonly id: string;
  readonly code: number | null;
}

export interface MachineTransition {
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly reenter: boolean;
  readonly policies: readonly Policy[];
}

export interface Policy {
  readonly name: string;
  readonly on: PolicySelector;
  readonly when: { readonly source: string; readonly expr: Expr } | null;
  readonly routes: readonly Route[];
}

/** The transitions that a policy covers; null in a `transition` stands for any. */
export type PolicySelector =
  | {
      readonly kind: 'transition';
      readonly event: string | null;
      readonly from: string | null;
      readonly to: string | null;
    }
  | { readonly kind: 'state'; readonly state: string };

export type Route =
  | {
      readonly kind: 'hook';
      readonly hook: string;
      readonly consumers: readonly string[];
      readonly onSucceeded: string | null;
      readonly onFailed: string | null;
    }
  | { readonly kind: 'workflow'; readonly workflow: string };

/** By name, else by id, else by code (a number, or its digits). */
export function findEvent(machine: Machine, event: string | number): MachineEvent | null {
  const text = String(event);
  const named = typeof event === 'string' ? machine.events.get(event) : undefined;
  return named ?? machine.eventsByKey.get(text.toLowerCase()) ?? null;
}

/** A self-transition without `reenter` does not enter the state: the stay goes on. */
export function entersState({ from, to, reenter }: Pick<MachineTransition, 'from' | 'to' | 'reenter'>): boolean {
  return from !== to || reenter;
}

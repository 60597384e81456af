// A compiled machine: immutable, every name resolved, each transition with the policies that apply to it, so that deciding a
// trigger is two lookups. Made by compileLifecycle alone, which has checked everything that is relied on here.

import type { Expr } from '../../core/expression/ast.ts';

export interface Machine {
  readonly env: string;
  readonly name: string;
  readonly initial: string;
  /** Of definition and policies together, whatever the order of their keys. */
  readonly checksum: string;
  /** In the order they were written in. */
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
  /** What leads out of it, by event. */
  readonly exits: ReadonlyMap<string, MachineTransition>;
  /** The events that lead into it, from wherever. */
  readonly entries: ReadonlySet<string>;
}

export interface StateTimeout {
  readonly afterMs: number;
  readonly event: string;
  readonly mode: 'once' | 'repeat';
  /** How often it fires in one stay at most; null: no end. */
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

/** Which transitions a policy is about; in a `transition` null stands for any. */
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

/** A transition that stays where it is and does not say `reenter` enters nothing: the stay goes on. */
export function entersState({ from, to, reenter }: Pick<MachineTransition, 'from' | 'to' | 'reenter'>): boolean {
  return from !== to || reenter;
}

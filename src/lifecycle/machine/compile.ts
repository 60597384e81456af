// The entry point: turns a definition and its policies into a machine and its rows, or into a list of all problems. Total: no
// input makes it throw. Pointers lead into `{ definition, policies }`, the shape of the request. Stages: json → schema → read →
// check → assemble; each goes as far as the findings of the earlier ones allow.

import { checkJson } from '../../core/definition/json-check.ts';
import { listIn, objectIn } from '../../core/definition/json-read.ts';
import { MAX_EDGES, MAX_NODES } from '../../core/definition/limits.ts';
import { checkSchema } from '../../core/definition/schema-check.ts';
import { canonicalJson, isJsonObject, type JsonObject } from '../../core/json/json.ts';
import { sha256Hex } from '../../core/plan/checksum.ts';
import { Findings, type Problem } from '../../core/problem/problem.ts';
import { lifecycleSchema, policiesSchema } from './definition-schema.ts';
import type { Machine, MachineEvent, MachineState, MachineTransition, Policy } from './machine.ts';
import { checkMachine } from './machine-check.ts';
import { type DraftState, type MachineDraft, readMachine } from './machine-reader.ts';
import { readPolicies, selects } from './policy-reader.ts';
import { type LifecycleRows, lifecycleRows } from './rows.ts';

export type LifecycleCompilation =
  /** The problems beside a machine are warnings. */
  | { readonly machine: Machine; readonly rows: LifecycleRows; readonly problems: Problem[] }
  | { readonly machine: null; readonly rows: null; readonly problems: Problem[] };

export function compileLifecycle(definition: unknown, policies: unknown = null): LifecycleCompilation {
  const findings = new Findings();
  const source = policies === null ? { definition } : { definition, policies };
  const compiled = checkJson(source, findings) ? compileJson(source as JsonObject, findings) : null;
  const problems = findings.problems();
  return compiled === null ? { machine: null, rows: null, problems } : { ...compiled, problems };
}

/** Checks a file of policies alone, as far as that is possible without their machine. */
export function checkPolicies(policies: unknown): Problem[] {
  const findings = new Findings();
  if (!checkJson(policies, findings)) return findings.problems();
  checkSchema(policiesSchema, policies as JsonObject, findings);
  readPolicies(objectIn(policies as JsonObject), '', null, findings);
  return findings.problems();
}

function compileJson(source: JsonObject, findings: Findings): { machine: Machine; rows: LifecycleRows } | null {
  const definition = objectIn(source.definition);
  if (!fits(definition, findings)) return null;
  checkSchema(lifecycleSchema, source, findings);
  const draft = readMachine(definition, '/definition', findings);
  checkMachine(draft, '/definition', findings);
  const policies = isJsonObject(source.policies) ? source.policies : null;
  const read = policies === null ? [] : readPolicies(policies, '/policies', draft, findings);
  if (findings.hasErrors) return null;
  const machine = assemble(draft, read, checksumOf(definition, read.length === 0 ? null : policies));
  return { machine, rows: lifecycleRows(machine, definition, policies) };
}

function fits(definition: JsonObject, findings: Findings): boolean {
  const counts = [
    ['states', Object.keys(objectIn(definition.states)).length, MAX_NODES],
    ['events', Object.keys(objectIn(definition.events)).length, MAX_NODES],
    ['transitions', listIn(definition.transitions).length, MAX_EDGES],
  ] as const;
  for (const [what, count, limit] of counts) {
    if (count <= limit) continue;
    findings.error(
      `TOO_MANY_${what.toUpperCase()}`,
      `/definition/${what}`,
      `there are ${count} ${what}; the limit is ${limit}`,
    );
  }
  return !findings.hasErrors;
}

/** `$schema` is for editors and changes nothing. */
function checksumOf({ $schema: _of, ...definition }: JsonObject, policies: JsonObject | null): string {
  const { $schema: _ofPolicies, ...rest } = policies ?? {};
  return sha256Hex(canonicalJson({ definition, policies: policies === null ? null : rest }));
}

/** Only for a draft without errors: every name in it exists. */
function assemble(draft: MachineDraft, policies: readonly Policy[], checksum: string): Machine {
  const transitions = draft.transitions.map(({ from, event, to, reenter }): MachineTransition => {
    const transition = { from, event, to, reenter };
    return { ...transition, policies: policies.filter(({ on }) => selects(on, transition)) };
  });
  const events = [...draft.events].map(([name, code]): MachineEvent => {
    return { name, id: eventId(draft.env, draft.name, name), code };
  });
  const leaving = Map.groupBy(transitions, ({ from }) => from);
  const entering = Map.groupBy(transitions, ({ to }) => to);
  const states = [...draft.states].map(([name, state]) => {
    return assembleState(name, state, leaving.get(name) ?? [], entering.get(name) ?? []);
  });
  return {
    env: draft.env,
    name: draft.name,
    initial: draft.initial!,
    checksum,
    states: new Map(states.map((state) => [state.name, state])),
    events: new Map(events.map((event) => [event.name, event])),
    eventsByKey: new Map(events.flatMap((event) => keysOf(event).map((key) => [key, event]))),
    transitions,
    policies,
  };
}

function assembleState(
  name: string,
  { isFinal, timeout }: DraftState,
  leaving: readonly MachineTransition[],
  entering: readonly MachineTransition[],
): MachineState {
  return {
    name,
    isFinal,
    timeout: timeout === null ? null : { ...timeout, event: timeout.event! },
    exits: new Map(leaving.map((exit) => [exit.event, exit])),
    entries: new Set(entering.map(({ event }) => event)),
  };
}

function keysOf({ id, code }: MachineEvent): string[] {
  return code === null ? [id] : [id, String(code)];
}

/**
 * The id of an event: a version 8 uuid, made from a hash of its environment, machine and name. So it is the same in every
 * version of the machine and on every installation.
 */
function eventId(env: string, machine: string, event: string): string {
  const hex = sha256Hex(canonicalJson([env, machine, event]));
  const variant = '89ab'[Number.parseInt(hex.slice(16, 17), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

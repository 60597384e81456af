// Checks a machine as a whole: each state has one answer to each event, final states have no exits, every state can be reached,
// and a timeout has the transition that it triggers. Oddities are warnings.

import { adjacency, reachable } from '../../core/definition/topology.ts';
import { childPointer } from '../../core/problem/pointer.ts';
import type { Findings } from '../../core/problem/problem.ts';
import type { DraftState, DraftTimeout, DraftTransition, MachineDraft } from './machine-reader.ts';

type Exits = ReadonlyMap<string, ReadonlyMap<string, DraftTransition>>;

export function checkMachine(draft: MachineDraft, at: string, findings: Findings): void {
  const exits = exitsOf(draft, findings);
  for (const [name, state] of draft.states) checkState(name, state, [...exits.get(name)!.values()], findings);
  reportUnreachable(draft, findings);
  const used = new Set(draft.transitions.map(({ event }) => event));
  for (const event of draft.events.keys()) {
    if (used.has(event)) continue;
    const message = `\`${event}\` leads nowhere: no transition is on it`;
    findings.warning('UNUSED_EVENT', childPointer(`${at}/events`, event), message, 'add a transition, or remove it');
  }
}

function exitsOf(draft: MachineDraft, findings: Findings): Exits {
  const exits = new Map([...draft.states.keys()].map((name) => [name, new Map<string, DraftTransition>()]));
  for (const transition of draft.transitions) {
    const { from, event, at } = transition;
    const exitsOfState = exits.get(from)!;
    const first = exitsOfState.get(event);
    if (first === undefined) exitsOfState.set(event, transition);
    else {
      const message = `\`${from}\` has a transition on \`${event}\` already, to \`${first.to}\` (${first.at})`;
      findings.error('DUPLICATE_TRANSITION', at, message, 'a state has one transition for each event: remove one');
    }
  }
  return exits;
}

function checkState(name: string, state: DraftState, exits: DraftTransition[], findings: Findings): void {
  if (state.isFinal) {
    for (const { at, to } of exits) {
      const message = `\`${name}\` is final, but a transition leads from it to \`${to}\``;
      findings.error('FINAL_WITH_EXIT', at, message, `remove the transition, or "final" of \`${name}\``);
    }
    if (state.timeout !== null) {
      const message = `\`${name}\` is final: it stays for good, and a timeout has nothing to do`;
      findings.error('FINAL_WITH_TIMEOUT', `${state.at}/timeout`, message, 'remove the timeout');
    }
  } else if (exits.length === 0) {
    const message = `nothing leads out of \`${name}\``;
    findings.warning('DEAD_END', state.at, message, 'mark it "final": true, or add a transition');
  }
  if (!state.isFinal && state.timeout !== null)
    checkTimeout(name, state.timeout, `${state.at}/timeout`, exits, findings);
}

function checkTimeout(
  name: string,
  { event, mode }: DraftTimeout,
  at: string,
  exits: DraftTransition[],
  findings: Findings,
): void {
  if (event === null) return;
  const exit = exits.find((transition) => transition.event === event);
  if (exit === undefined) {
    const message = `the timeout of \`${name}\` triggers \`${event}\`, but no transition on it leads from \`${name}\``;
    const suggestion = `add { "from": "${name}", "on": "${event}", "to": … }`;
    findings.error('TIMEOUT_WITHOUT_TRANSITION', `${at}/event`, message, suggestion);
  } else if (mode === 'repeat' && exit.to !== name) {
    const message = `the timeout of \`${name}\` never repeats: \`${event}\` leads to \`${exit.to}\``;
    findings.warning('NEVER_REPEATS', `${at}/mode`, message, 'remove "mode", or lead the event back to the same state');
  } else if (mode === 'repeat' && exit.reenter) {
    const message = `each firing of this timeout enters \`${name}\` anew, so it never counts up to \`max\``;
    findings.warning('NEVER_COUNTS', `${at}/mode`, message, 'remove "reenter" of the transition');
  }
}

function reportUnreachable(draft: MachineDraft, findings: Findings): void {
  if (draft.initial === null || !draft.states.has(draft.initial)) return;
  const names = [...draft.states.keys()];
  const indexes = new Map(names.map((name, index) => [name, index]));
  const arcs = draft.transitions.map(({ from, to }) => ({ from: indexes.get(from)!, to: indexes.get(to)! }));
  const seen = reachable(indexes.get(draft.initial)!, adjacency(names.length, arcs));
  names.forEach((name, index) => {
    if (seen[index] === 1) return;
    const message = `\`${name}\` is never reached: no path leads to it from \`${draft.initial}\``;
    findings.error('UNREACHABLE', draft.states.get(name)!.at, message, 'add a transition to it, or remove it');
  });
}

// Reads a machine, valid or not, into a draft in which every name is resolved. Reports unknown names, bad durations and duplicate
// codes. An unknown name that is a near miss counts as the name it resembles, so that one slip does not produce a page of
// "unreachable".

import { choiceIn, flagIn, listIn, numberIn, objectIn, textIn } from '../../core/definition/json-read.ts';
import { MAX_ID_LENGTH } from '../../core/definition/limits.ts';
import { DURATION_FORMS, parseDuration } from '../../core/duration/duration.ts';
import { didYouMean } from '../../core/expression/problem.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts';
import { childPointer } from '../../core/problem/pointer.ts';
import type { Findings } from '../../core/problem/problem.ts';
import type { StateTimeout } from './machine.ts';

export interface MachineDraft {
  readonly env: string;
  readonly name: string;
  readonly initial: string | null;
  readonly states: ReadonlyMap<string, DraftState>;
  /** Codes by name. */
  readonly events: ReadonlyMap<string, number | null>;
  /** Transitions whose names could be resolved. */
  readonly transitions: readonly DraftTransition[];
}

export interface DraftState {
  readonly at: string;
  readonly isFinal: boolean;
  readonly timeout: DraftTimeout | null;
}

export type DraftTimeout = Omit<StateTimeout, 'event'> & { readonly event: string | null };

export interface DraftTransition {
  readonly at: string;
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly reenter: boolean;
}

/** The names of one kind; null: they could not be read, so their uses are not judged. */
export type Known = ReadonlyMap<string, unknown> | null;

export function readMachine(raw: JsonObject, at: string, findings: Findings): MachineDraft {
  const events = readEvents(objectIn(raw.events), `${at}/events`, findings);
  const knownEvents = isJsonObject(raw.events) ? events : null;
  const states = readStates(raw, `${at}/states`, knownEvents, findings);
  const knownStates = states.size > 0 ? states : null;
  return {
    env: textIn(raw.env) ?? '',
    name: textIn(raw.name) ?? '',
    initial: resolveName('state', raw.initial, `${at}/initial`, knownStates, findings),
    states,
    events,
    transitions: listIn(raw.transitions).flatMap((value, index) =>
      readTransition(objectIn(value), `${at}/transitions/${index}`, knownStates, knownEvents, findings),
    ),
  };
}

function readEvents(raw: JsonObject, at: string, findings: Findings): Map<string, number | null> {
  const events = new Map<string, number | null>();
  const takenBy = new Map<number, string>();
  for (const [name, value] of Object.entries(raw)) {
    checkName('event', name, childPointer(at, name), findings);
    const code = numberIn(objectIn(value).code, null);
    events.set(name, code);
    if (code === null) continue;
    const codeAt = `${childPointer(at, name)}/code`;
    const other = takenBy.get(code) ?? (Object.hasOwn(raw, String(code)) ? String(code) : name);
    takenBy.set(code, name);
    if (other === name) continue;
    const message = `the code ${code} already stands for \`${other}\``;
    findings.error('DUPLICATE_CODE', codeAt, message, 'give each event a code of its own');
  }
  return events;
}

function readStates(definition: JsonObject, at: string, events: Known, findings: Findings): Map<string, DraftState> {
  const states = new Map<string, DraftState>();
  for (const [name, value] of Object.entries(objectIn(definition.states))) {
    const stateAt = childPointer(at, name);
    checkName('state', name, stateAt, findings);
    const raw = objectIn(value);
    const timeout = isJsonObject(raw.timeout) ? readTimeout(raw.timeout, `${stateAt}/timeout`, events, findings) : null;
    states.set(name, { at: stateAt, isFinal: flagIn(raw.final, false), timeout });
  }
  if (isJsonObject(definition.states) && states.size === 0) {
    findings.error('OUT_OF_RANGE', at, 'must not be empty', 'add at least the initial state');
  }
  return states;
}

function readTimeout(raw: JsonObject, at: string, events: Known, findings: Findings): DraftTimeout {
  const mode = choiceIn(raw.mode, ['once', 'repeat'], 'once');
  for (const key of ['max', 'interval']) {
    if (mode === 'repeat' || raw[key] === undefined) continue;
    const suggestion = 'add "mode": "repeat", or remove it';
    findings.error('UNUSED_OPTION', `${at}/${key}`, `\`${key}\` is only for a timeout that repeats`, suggestion);
  }
  const afterMs = readDuration(raw.after, `${at}/after`, findings);
  return {
    afterMs,
    event: resolveName('event', raw.event, `${at}/event`, events, findings),
    mode,
    max: numberIn(raw.max, null),
    intervalMs: raw.interval === undefined ? afterMs : readDuration(raw.interval, `${at}/interval`, findings),
  };
}

/** The schema reports types other than text. A timeout of zero would fire without end. */
function readDuration(value: Json | undefined, at: string, findings: Findings): number {
  if (typeof value !== 'string') return 0;
  const ms = parseDuration(value);
  if (ms === null) {
    const message = `${JSON.stringify(value.slice(0, 60))} is not a duration of at most ten years`;
    findings.error('BAD_DURATION', at, message, `write ${DURATION_FORMS}`);
  } else if (ms === 0) findings.error('BAD_DURATION', at, 'must be longer than 0', `write ${DURATION_FORMS}`);
  return ms ?? 0;
}

function readTransition(
  raw: JsonObject,
  at: string,
  states: Known,
  events: Known,
  findings: Findings,
): DraftTransition[] {
  const from = resolveName('state', raw.from, `${at}/from`, states, findings);
  const event = resolveName('event', raw.on, `${at}/on`, events, findings);
  const to = resolveName('state', raw.to, `${at}/to`, states, findings);
  if (states === null || from === null || event === null || to === null) return [];
  const reenter = flagIn(raw.reenter, false);
  if (reenter && from !== to) {
    const message =
      '`reenter` is for transitions that lead back to the same state; every other one enters its state anyway';
    findings.warning('UNUSED_OPTION', `${at}/reenter`, message, 'remove it');
  }
  return [{ at, from, event, to, reenter }];
}

/** The name, or its near miss; null: neither exists. */
export function resolveName(
  what: 'state' | 'event',
  value: Json | undefined,
  at: string,
  known: Known,
  findings: Findings,
): string | null {
  const name = textIn(value);
  if (name === null || known === null || known.has(name)) return name;
  const near = findings.nearMiss(name, known.keys());
  const suggestion = didYouMean(near) ?? `add it to \`${what}s\``;
  findings.error(`UNKNOWN_${what.toUpperCase()}`, at, `unknown ${what} \`${shorten(name)}\``, suggestion);
  return near ?? null;
}

/** People read these names in messages, diagrams and URLs. */
const NAME = /^[^\p{Cc}\s](?:[^\p{Cc}]*[^\p{Cc}\s])?$/u;

function checkName(what: 'state' | 'event', name: string, at: string, findings: Findings): void {
  if (name.length <= MAX_ID_LENGTH && NAME.test(name)) return;
  const message = `\`${shorten(name)}\` cannot be the name of ${what === 'state' ? 'a state' : 'an event'}`;
  const suggestion = `use 1 to ${MAX_ID_LENGTH} characters, no control characters, no space at either end`;
  findings.error('BAD_NAME', at, message, suggestion);
}

function shorten(name: string): string {
  return name.length > MAX_ID_LENGTH ? `${name.slice(0, 40)}…` : name;
}

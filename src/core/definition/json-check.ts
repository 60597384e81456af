// The first gate: is this plain JSON of a reasonable size? Code behind it may recurse and copy without fear: depth and number of
// values are bounded, no key can reach a prototype (S8), every text can be stored. Itself iterative.

import type { JsonObject } from '../json/json.ts';
import { pointerOf } from '../problem/pointer.ts';
import type { Findings } from '../problem/problem.ts';
import { allAtOnce, type Steps } from '../steps/steps.ts';
import { MAX_DEPTH, MAX_PARAMETER_DEPTH, MAX_VALUES } from './limits.ts';

const UNSTORABLE = [
  'UNSTORABLE_TEXT',
  'this text has a character that cannot be stored (NUL, or half of a surrogate pair)',
] as const;

interface Place {
  readonly value: unknown;
  readonly key: string | number;
  readonly parent: Place | null;
  readonly depth: number;
}

export function checkJson(value: unknown, findings: Findings): boolean {
  return allAtOnce(checkJsonInSteps(value, findings));
}

const VALUES_PER_STEP = 2_000;

/** Whether the value can be processed further. */
export function* checkJsonInSteps(value: unknown, findings: Findings): Steps<boolean> {
  const stack: Place[] = [{ value, key: '', parent: null, depth: 0 }];
  let values = 1;
  let looked = 0;
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    if (++looked % VALUES_PER_STEP === 0) yield;
    if (!checkPlace(place, findings) || typeof place.value !== 'object' || place.value === null) continue;
    values += Array.isArray(place.value) ? place.value.length : Object.keys(place.value).length;
    if (values > MAX_VALUES) {
      findings.error('TOO_LARGE', '', `the definition has more than ${MAX_VALUES} values`);
      return false;
    }
    pushChildren(stack, place, place.value, findings);
  }
  return !findings.hasErrors;
}

function checkPlace(place: Place, findings: Findings): boolean {
  const refusal = refuse(place);
  if (refusal === null) return true;
  findings.error(refusal[0], pointerAt(place), refusal[1]);
  return false;
}

function refuse({ value, depth }: Place): readonly [code: string, message: string] | null {
  switch (typeof value) {
    case 'string':
      return isStorable(value) ? null : UNSTORABLE;
    case 'boolean':
      return null;
    case 'number':
      return Number.isFinite(value) ? null : ['NOT_JSON', `the number ${value} is not JSON`];
    case 'object':
      if (value !== null && !isPlain(value)) return ['NOT_JSON', 'an object that is not plain data is not JSON'];
      if (depth <= MAX_DEPTH) return null;
      return ['TOO_DEEP', `nested too deeply: parameters may be ${MAX_PARAMETER_DEPTH} levels deep`];
    default:
      return ['NOT_JSON', `a value of type ${typeof value} is not JSON`];
  }
}

/** Pushed in reverse, so that problems come in definition order. */
function pushChildren(stack: Place[], parent: Place, value: object, findings: Findings): void {
  const depth = parent.depth + 1;
  if (Array.isArray(value)) {
    for (let index = value.length - 1; index >= 0; index--) {
      stack.push({ value: value[index], key: index, parent, depth });
    }
    return;
  }
  const keys = Object.keys(value);
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index]!;
    const place: Place = { value: (value as JsonObject)[key], key, parent, depth };
    if (key === '__proto__') findings.error('FORBIDDEN_KEY', pointerAt(place), 'the name `__proto__` is not allowed');
    else if (!isStorable(key)) findings.error(UNSTORABLE[0], pointerAt(place), UNSTORABLE[1]);
    else stack.push(place);
  }
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** PostgreSQL's jsonb accepts neither NUL nor half of a surrogate pair. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function pointerAt(place: Place): string {
  const keys: (string | number)[] = [];
  for (let at: Place = place; at.parent !== null; at = at.parent) keys.push(at.key);
  return pointerOf(keys.reverse());
}

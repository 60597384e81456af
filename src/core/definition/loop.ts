// Reads loops: `forEach` and `repeat` of a graph, `for_each` and `until` of a pipeline, `foreach` of a plan.

import type { Json, JsonObject } from '../json/json.ts';
import type { Findings } from '../problem/problem.ts';
import type { Template } from '../template/template.ts';
import { DEFAULT_MAX_ITEMS, DEFAULT_MAX_ROUNDS, DEFAULT_PARALLEL } from './defaults.ts';
import type { DraftBody, DraftLoop, Located } from './draft.ts';
import { millisecondsIn, numberIn, objectIn, textIn } from './json-read.ts';

export function readLoop(
  raw: JsonObject,
  at: string,
  body: DraftBody | null,
  findings: Findings,
): { loop?: DraftLoop } {
  if (raw.forEach !== undefined && raw.repeat !== undefined) {
    const message = 'a node has `forEach` or `repeat`, not both';
    findings.error('LOOP_CONFLICT', `${at}/repeat`, message, 'put one of them into a subworkflow');
  }
  if (raw.forEach !== undefined) {
    const forEach = objectIn(raw.forEach);
    return { loop: readForEach(forEach, { value: forEach.items ?? [], at: `${at}/forEach/items` }, body) };
  }
  if (raw.repeat !== undefined) {
    const place = `${at}/repeat`;
    return { loop: readRepeat(objectIn(raw.repeat), { until: `${place}/until`, collect: `${place}/collect` }, body) };
  }
  if (body !== null) {
    const message = 'a `body` needs `forEach` or `repeat` beside it';
    findings.error('BODY_WITHOUT_LOOP', `${at}/body`, message, 'add one, or use a subworkflow');
  }
  return {};
}

export function readForEach(raw: JsonObject, items: Located<Json>, body: DraftBody | null): DraftLoop {
  return {
    kind: 'forEach',
    items,
    parallel: numberIn(raw.parallel, DEFAULT_PARALLEL),
    limit: numberIn(raw.maxItems, DEFAULT_MAX_ITEMS),
    tolerate: readTolerance(raw.tolerate),
    body,
  };
}

/** `at`: the place of its condition and template. */
export function readRepeat(
  raw: JsonObject,
  at: { readonly until: string; readonly collect: string },
  body: DraftBody | null,
): DraftLoop {
  return {
    kind: 'repeat',
    until: { value: textIn(raw.until) ?? 'true', at: at.until },
    limit: numberIn(raw.maxRounds, DEFAULT_MAX_ROUNDS),
    delayMs: millisecondsIn(raw.delayMs, 0),
    backoffFactor: numberIn(raw.backoffFactor, 1),
    maxDelayMs: millisecondsIn(raw.maxDelayMs, null),
    collect: raw.collect === undefined ? null : { value: raw.collect, at: at.collect },
    body,
  };
}

export function readTolerance(tolerate: Json | undefined): { count: number } | { percent: number } {
  return typeof tolerate === 'string' ? { percent: Number.parseInt(tolerate, 10) } : { count: numberIn(tolerate, 0) };
}

/** Literal values are checked now; values from templates are checked when the loop runs. */
export function checkList(list: Template | null, at: string, limit: number, findings: Findings): void {
  if (list === null || list.kind === 'value') return;
  const length = lengthOf(list);
  if (length === null) {
    findings.error('NOT_A_LIST', at, 'this is never a list', 'write one {{ template }} that gives a list, or a list');
  } else if (length > limit) {
    const message = `${length} items are written here, and at most ${limit} are allowed`;
    findings.error('TOO_MANY_ITEMS', at, message, 'allow more items, or write fewer');
  }
}

function lengthOf(list: Exclude<Template, { kind: 'value' }>): number | null {
  if (list.kind === 'array') return list.items.length;
  return list.kind === 'literal' && Array.isArray(list.value) ? list.value.length : null;
}

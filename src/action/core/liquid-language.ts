// The language of documents: Liquid without access to the outside (S3). No partials, layouts or files; no clock and no
// randomness, so the same answers give the same document; loops only if the operator allows them. A missing value is an error
// with its place, unless the document tests for it (`if`, `default`). Liquid's own limits are cooperative, so the process that
// runs it is stopped from outside (S4).

import { type FilterImplOptions, filters, Liquid, LiquidError, type TagToken, type Token, toValue } from 'liquidjs';
import type { Problem } from '../../core/problem/problem.ts';

export interface LanguageOptions {
  readonly allowLoops: boolean;
  /** false: a missing value counts as null. */
  readonly strict: boolean;
  /** The text of null. */
  readonly nullText: string;
  readonly timeoutMs: number;
}

const OUTSIDE_TAGS = ['include', 'render', 'layout', 'block'];
const LOOP_TAGS = ['for', 'tablerow', 'break', 'continue', 'cycle'];
const RANDOM_FILTERS = ['sample', 'shuffle'];
const CLOCK_FILTERS = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string'] as const;

/** Characters and elements that filters and ranges may create in one rendering. */
const MAX_MADE = 4_000_000;
const MAX_PROBLEMS = 100;

export class TagRefused extends Error {}

export function createLanguage({ allowLoops, strict, nullText, timeoutMs }: LanguageOptions): Liquid {
  const liquid = new Liquid({
    templates: {},
    relativeReference: false,
    dynamicPartials: false,
    strictVariables: strict,
    strictFilters: true,
    lenientIf: true,
    ownPropertyOnly: true,
    timezoneOffset: 0,
    locale: 'en-US',
    memoryLimit: MAX_MADE,
    renderLimit: timeoutMs,
    ...(nullText === '' ? {} : { outputEscape: (value: unknown) => (value ?? nullText) as string }),
    // One error per part of the document; in a loop there would be one per round.
    catchAllErrors: !allowLoops,
  });
  for (const tag of OUTSIDE_TAGS) refuseTag(liquid, tag, 'a document is complete in itself');
  if (!allowLoops) {
    for (const tag of LOOP_TAGS)
      refuseTag(liquid, tag, 'loops are off; the operator allows them with templates.allowLoops');
  }
  for (const name of RANDOM_FILTERS) liquid.unregisterFilter(name);
  for (const name of CLOCK_FILTERS) liquid.registerFilter(name, withoutClock(filters[name] as FilterFunction));
  return liquid;
}

function refuseTag(liquid: Liquid, name: string, why: string): void {
  liquid.registerTag(name, {
    parse(_token: TagToken) {
      throw new TagRefused(`the tag \`${name}\` is not allowed: ${why}`);
    },
    render: () => '',
  });
}

type FilterFunction = (this: unknown, value: unknown, ...args: unknown[]) => unknown;

function withoutClock(filter: FilterFunction): FilterImplOptions {
  return function (this: unknown, value: unknown, ...args: unknown[]) {
    const given = toValue(value);
    if (given === 'now' || given === 'today') {
      throw new Error(`\`${given}\` is not known here: give the time as an answer or in \`extras\``);
    }
    return filter.call(this, value, ...args);
  };
}

// ── What went wrong ─────────────────────────────────────────────────────────────────────────────────────────────────

/** Unpacks an error that stands for several. */
export function errorsIn(thrown: unknown): unknown[] {
  const several = (thrown as { errors?: unknown } | null)?.errors;
  return Array.isArray(several) ? several.flatMap(errorsIn) : [thrown];
}

export function causeOf(thrown: unknown): unknown {
  return (thrown as { originalError?: unknown } | null)?.originalError ?? thrown;
}

export function problemsIn(thrown: unknown): Problem[] {
  const errors = errorsIn(thrown);
  const isRefusal = errors.some((error) => causeOf(error) instanceof TagRefused);
  // The end tag of a refused block is not a second mistake.
  const counted = isRefusal ? errors.filter((error) => !/^tag "\w+" not found/.test(messageOf(error))) : errors;
  return counted.slice(0, MAX_PROBLEMS).map(problemOf);
}

function problemOf(error: unknown): Problem {
  const cause = causeOf(error);
  const code = cause instanceof TagRefused ? 'TAG_REFUSED' : 'TEMPLATE_ERROR';
  const position = LiquidError.is(error) ? positionOf(error.token) : null;
  return { code, path: '', message: explained(messageOf(cause)), ...position };
}

function positionOf(token: Token): { line: number; column: number } {
  const [line, column] = token.getPosition() as [number, number];
  return { line, column };
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/, line:\d+, col:\d+$/, '');
}

function explained(message: string): string {
  const missing = /^undefined variable: (.+)$/.exec(message)?.[1];
  if (missing !== undefined) return `\`${missing}\` is not given; ask first (\`if\`), or add \`| default: …\``;
  if (/^(memory alloc limit exceeded|Invalid string length)$/.test(message))
    return 'the document needs more memory than it may';
  if (message.startsWith('Maximum call stack')) return 'the document is nested too deep';
  return message;
}

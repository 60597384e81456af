// Creates a definition from a workflow template. References to `config` are filled in; everything else stays as written. A string
// that is one `{{ config.… }}` becomes the value; inside a text it becomes text; inside a condition or a mixed expression, a
// literal. Values are data: braces in them are never read as a template. Pure.

import { evaluate } from '../core/expression/evaluate.ts';
import { EvaluationError } from '../core/expression/evaluation.ts';
import { parseExpression } from '../core/expression/parse.ts';
import { pathText, type Reference, references } from '../core/expression/references.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import { pointerOf } from '../core/problem/pointer.ts';
import type { Problem } from '../core/problem/problem.ts';
import { splitTemplate } from '../core/template/split.ts';

export interface Rendered {
  readonly definition: Json;
  readonly problems: Problem[];
}

/** Names that an expression of a graph may use, and ours. */
const ROOTS = ['config', 'trigger', 'context', 'vars', 'spec', 'execution', 'principal'];
const LANGUAGE = { roots: ROOTS, dialect: 'javascript' } as const;
const MAX_DEPTH = 64;

type Path = readonly (string | number)[];

export function renderWorkflowTemplate(definition: Json, config: JsonObject): Rendered {
  const filling = new Filling(config);
  return { definition: filling.value(definition, []), problems: filling.problems };
}

export interface ConfigReading {
  readonly path: Path;
  /** E.g. `channelId` of `config.channelId`; absent: `config` as a whole. */
  readonly name: string | undefined;
  readonly guarded: boolean;
}

/** The fields of `config` that a definition reads, with their places. */
export function configReadings(definition: Json, path: Path = []): ConfigReading[] {
  if (typeof definition === 'string') {
    return expressionsIn(definition, path).flatMap(({ source }) =>
      configReferences(source).map(({ path: [, name], guarded }) => {
        return { path, name: name === undefined ? undefined : String(name), guarded };
      }),
    );
  }
  if (definition === null || typeof definition !== 'object') return [];
  const entries = Array.isArray(definition) ? definition.entries() : Object.entries(definition);
  return [...entries].flatMap(([key, item]) => configReadings(item, [...path, key]));
}

class Filling {
  readonly problems: Problem[] = [];
  private readonly config: JsonObject;

  constructor(config: JsonObject) {
    this.config = config;
  }

  value(value: Json, path: Path): Json {
    if (typeof value === 'string') return isCondition(path) ? this.condition(value, path) : this.text(value, path);
    if (value === null || typeof value !== 'object') return value;
    if (path.length >= MAX_DEPTH) {
      this.report(path, `is nested deeper than ${MAX_DEPTH} levels`);
      return null;
    }
    if (Array.isArray(value)) return value.map((item, index) => this.value(item, [...path, index]));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.value(item, [...path, key])]));
  }

  private text(text: string, path: Path): Json {
    if (!readsConfig(text)) return text;
    const split = splitTemplate(text);
    // The check of the definition reports a text that cannot be split, with its place.
    if (!split.ok) return text;
    const { parts } = split;
    const [first] = parts;
    const isTemplate = isTemplated(path);
    if (parts.length === 1 && first?.kind === 'expression' && isConfigOnly(first.source)) {
      const value = this.evaluate(first.source, path);
      return isTemplate ? quoted(value) : value;
    }
    return parts
      .map((part) => {
        if (part.kind === 'text') return part.text;
        if (!isConfigOnly(part.source)) return withSource(text, part, this.expression(part.source, path));
        const value = textOf(this.evaluate(part.source, path));
        return isTemplate ? quotedText(value) : value;
      })
      .join('');
  }

  /** `{{ config.limit }}` and `config.limit` mean the same here. */
  private condition(source: string, path: Path): string {
    if (!readsConfig(source)) return source;
    const split = splitTemplate(source);
    const plain = split.ok
      ? split.parts
          .map((part) => (part.kind === 'text' ? part.text : literal(this.evaluate(part.source, path))))
          .join('')
      : source;
    return this.expression(plain, path);
  }

  /** Replaces every reference to `config` by its value. */
  private expression(source: string, path: Path): string {
    let filled = source;
    for (const reference of configReferences(source).toReversed()) {
      const { start, end, guarded } = reference;
      const value = this.evaluate(source.slice(start, end), path, guarded);
      const isFollowed = /^\s*(\.|\[|\?\.|\()/.test(source.slice(end));
      filled = filled.slice(0, start) + literal(value, isFollowed) + filled.slice(end);
    }
    return filled;
  }

  private evaluate(source: string, path: Path, mayBeMissing = false): Json {
    const parsed = parseExpression(source, { roots: ['config'], dialect: 'javascript' });
    if (!parsed.ok) {
      const [problem] = parsed.problems;
      this.report(path, `{{ ${source} }}: ${problem?.message ?? 'cannot be read'}`);
      return null;
    }
    try {
      const value = evaluate(parsed.expr, { config: this.config });
      if (value === undefined && !mayBeMissing) this.report(path, `\`${source}\` is missing in \`config\``);
      return (value ?? null) as Json;
    } catch (thrown) {
      if (!(thrown instanceof EvaluationError)) throw thrown;
      this.report(path, `{{ ${source} }}: ${thrown.message}`);
      return null;
    }
  }

  private report(path: Path, message: string): void {
    this.problems.push({ code: 'BAD_CONFIG', path: pointerOf(path), message });
  }
}

// ── What is where in a graph ────────────────────────────────────────────────────────────────────────────────────────

/** `/nodes/0/edges/1/condition` */
function isCondition(path: Path): boolean {
  return path.length === 5 && path[0] === 'nodes' && path[2] === 'edges' && path[4] === 'condition';
}

/** Whether the engine renders `{{ … }}` at this place. */
function isTemplated([first, , third]: Path): boolean {
  return first === 'outputs' || (first === 'nodes' && third === 'parameters');
}

// ── Expressions ─────────────────────────────────────────────────────────────────────────────────────────────────────

const readsConfig = (text: string): boolean => /\bconfig\b/.test(text);

function expressionsIn(text: string, path: Path): { source: string }[] {
  if (!readsConfig(text)) return [];
  const split = splitTemplate(text);
  if (!split.ok) return [];
  const pieces = split.parts.filter((part) => part.kind === 'expression');
  if (!isCondition(path)) return pieces;
  const around = split.parts.map((part) => (part.kind === 'text' ? part.text : 'null')).join('');
  return [{ source: around }, ...pieces];
}

function configReferences(source: string): Reference[] {
  const parsed = parseExpression(source, LANGUAGE);
  return parsed.ok ? references(parsed.expr).filter(({ path }) => path[0] === 'config') : [];
}

function isConfigOnly(source: string): boolean {
  const parsed = parseExpression(source, LANGUAGE);
  if (!parsed.ok) return /^config\b/.test(source);
  const read = references(parsed.expr);
  return read.length > 0 && read.every(({ path }) => path[0] === 'config');
}

/** Keeps the written braces and white space around an expression. */
function withSource(text: string, { source, start }: { source: string; start: number }, filled: string): string {
  const end = start + source.length;
  return text.slice(text.lastIndexOf('{{', start), start) + filled + text.slice(end, text.indexOf('}}', end) + 2);
}

// ── Values as text ──────────────────────────────────────────────────────────────────────────────────────────────────

/** The value as an expression writes it, in parentheses where `.`, `[` or a minus would misread it. */
function literal(value: Json, isFollowed = false): string {
  const text = JSON.stringify(value);
  const isNegative = typeof value === 'number' && value < 0;
  const isOpen = isNegative || isJsonObject(value) || (isFollowed && typeof value === 'number');
  return isOpen ? `(${text})` : text;
}

function textOf(value: Json): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const quotedText = (text: string): string => text.replaceAll('{{', "{{ '{{' }}");

function quoted(value: Json): Json {
  if (typeof value === 'string') return quotedText(value);
  if (Array.isArray(value)) return value.map(quoted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, quoted(item)]));
}

export const readingText = (name: string | undefined): string =>
  pathText(name === undefined ? ['config'] : ['config', name]);

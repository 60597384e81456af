// The filter of monday.get-items. Every rule is evaluated here, on the text that the workflow will see, so an operator means the
// same for every column type. Monday pre-filters where that is safe (item ids, status labels, parts of a text): it may only leave
// out items that would not pass here.

import { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import { type Column, columnByTitle, statusLabels } from './board.ts';
import type { Item } from './item.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);

const rule = z.strictObject({
  /** The title of the column; "Name" and "Item ID" always exist. */
  column: z.string().min(1),
  operator: z.enum(['eq', 'neq', 'in', 'notIn', 'contains', 'gt', 'gte', 'lt', 'lte', 'empty', 'notEmpty']),
  /** One value; a list for `in` and `notIn`; none for `empty` and `notEmpty`. */
  value: z.union([scalar, z.array(scalar)]).optional(),
});
type Rule = z.output<typeof rule>;

/** Items must pass every rule. */
export const filterSchema = z.strictObject({ rules: z.array(rule).max(50) });

export interface ItemsQuery {
  readonly ids?: readonly string[];
  readonly rules?: readonly { column_id: string; operator: string; compare_value: readonly unknown[] }[];
}

export interface CompiledFilter {
  /** Sent to Monday. */
  readonly query: ItemsQuery;
  /** Applied to Monday's answer. */
  readonly accepts: (item: Item) => boolean;
}

const ITEM_ID = 'item id';
const MAX_IDS = 100;

export function compileFilter(rules: readonly Rule[], columns: readonly Column[]): CompiledFilter {
  const judges: ((item: Item) => boolean)[] = [];
  const narrowing: NonNullable<ItemsQuery['rules']>[number][] = [];
  let ids: readonly string[] | undefined;
  for (const [index, entry] of rules.entries()) {
    const parameter = `parameters.filter.rules[${index}]`;
    const values = valuesOf(entry, parameter);
    const subject = subjectOf(entry.column, columns, parameter);
    judges.push((item) => passes(entry.operator, subject.text(item), values));
    if (subject.isId && isEquality(entry.operator) && values.length <= MAX_IDS) ids = values;
    const narrowed = subject.column === null ? null : narrow(entry.operator, values, subject.column, parameter);
    if (narrowed !== null) narrowing.push(narrowed);
  }
  return {
    query: { ...(ids === undefined ? {} : { ids }), ...(narrowing.length === 0 ? {} : { rules: narrowing }) },
    accepts: (item) => judges.every((judge) => judge(item)),
  };
}

const isEquality = (operator: Rule['operator']): boolean => operator === 'eq' || operator === 'in';

function valuesOf({ operator, value }: Rule, parameter: string): readonly string[] {
  const needsNone = operator === 'empty' || operator === 'notEmpty';
  const isList = operator === 'in' || operator === 'notIn';
  if (needsNone) return [];
  if (value === undefined) throw invalid(`${parameter}.value: "${operator}" needs a value`);
  if (Array.isArray(value) && !isList) throw invalid(`${parameter}.value: "${operator}" takes one value; use "in"`);
  return [value].flat().map(String);
}

interface Subject {
  readonly isId: boolean;
  /** null: not a column of the board. */
  readonly column: Column | null;
  readonly text: (item: Item) => string | null;
}

function subjectOf(title: string, columns: readonly Column[], parameter: string): Subject {
  const own = columns.find((column) => column.title.toLowerCase() === title.toLowerCase());
  const isId = own === undefined ? title.toLowerCase() === ITEM_ID : own.type === 'item_id';
  if (isId) return { isId, column: null, text: ({ id }) => id };
  const column = columnByTitle(columns, title, `${parameter}.column`);
  return { isId, column, text: (item) => (column.type === 'name' ? item.Name : (item[column.title] ?? null)) };
}

// ── What Monday can leave out ───────────────────────────────────────────────────────────────────────────────────────

const TEXTUAL = new Set(['name', 'text', 'long_text']);

function narrow(operator: Rule['operator'], values: readonly string[], column: Column, parameter: string) {
  if (column.type === 'status' && isEquality(operator)) {
    const indices = values.map((label) => labelIndex(label, column, parameter));
    return indices.includes(null) ? null : { column_id: column.id, operator: 'any_of', compare_value: indices };
  }
  if (TEXTUAL.has(column.type) && (operator === 'eq' || operator === 'contains') && values[0] !== '') {
    return { column_id: column.id, operator: 'contains_text', compare_value: values };
  }
  return null;
}

/** null: the labels are unknown, so every item must be checked. */
function labelIndex(label: string, column: Column, parameter: string): number | null {
  const labels = statusLabels(column);
  if (labels.size === 0 || label === '') return null;
  const index = labels.get(label);
  if (index !== undefined) return index;
  const known = [...labels.keys()].map((name) => JSON.stringify(name)).join(', ');
  throw invalid(`${parameter}.value: the column "${column.title}" has no label "${label}"; it has ${known}`);
}

// ── What an operator means ──────────────────────────────────────────────────────────────────────────────────────────

function passes(operator: Rule['operator'], text: string | null, values: readonly string[]): boolean {
  const found = text ?? '';
  const value = values[0] ?? '';
  switch (operator) {
    case 'eq':
      return found === value;
    case 'neq':
      return found !== value;
    case 'in':
      return values.includes(found);
    case 'notIn':
      return !values.includes(found);
    case 'contains':
      return found.toLowerCase().includes(value.toLowerCase());
    case 'gt':
      return found !== '' && compare(found, value) > 0;
    case 'gte':
      return found !== '' && compare(found, value) >= 0;
    case 'lt':
      return found !== '' && compare(found, value) < 0;
    case 'lte':
      return found !== '' && compare(found, value) <= 0;
    case 'empty':
      return found === '';
    case 'notEmpty':
      return found !== '';
  }
}

/** As numbers when both are numbers, otherwise as text, which is right for Monday's dates (2025-12-01). */
function compare(left: string, right: string): number {
  const [a, b] = [Number(left), Number(right)];
  if (left.trim() !== '' && right.trim() !== '' && Number.isFinite(a) && Number.isFinite(b)) return a - b;
  return left < right ? -1 : Number(left > right);
}

function invalid(message: string): TerminalError {
  return new TerminalError('PARAMETERS_INVALID', message);
}

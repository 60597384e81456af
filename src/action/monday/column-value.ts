// Column values that a workflow writes, by title, in the shape that Monday expects for each type. An object is passed on as it
// is: it is Monday's own shape for that type.

import { z } from 'zod';
import type { Json } from '../../core/json/json.ts';
import { type Column, columnByTitle } from './board.ts';

export const columnValues = z.record(z.string().min(1), z.json());

/** The JSON text that mutations take. */
export function encodeColumnValues(values: Readonly<Record<string, Json>>, columns: readonly Column[]): string {
  const encoded = Object.entries(values).map(([title, value]) => {
    const column = columnByTitle(columns, title, 'parameters.columns');
    return [column.id, encodeValue(column.type, value)] as const;
  });
  return JSON.stringify(Object.fromEntries(encoded));
}

/** null clears a column. */
function encodeValue(type: string, value: Json): Json {
  if (value === null || (typeof value === 'object' && !Array.isArray(value))) return value;
  switch (type) {
    case 'status':
      return { label: String(value) };
    case 'dropdown':
      return { labels: [value].flat().map(String) };
    case 'date':
      return { date: String(value) };
    case 'checkbox':
      return value === true || value === 'true' ? { checked: 'true' } : null;
    case 'long_text':
      return { text: String(value) };
    default:
      return Array.isArray(value) ? value : String(value);
  }
}

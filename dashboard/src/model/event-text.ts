// An event of an execution in a line. Fields without words of their own are in the event's details.

import { bytesText } from './text.ts';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const edgeText = (edge: unknown): string =>
  isFields(edge) ? `${String(edge.from)} → ${String(edge.to)}` : String(edge);

/** How each field is said. A field that says nothing gives an empty text. */
const SAID: readonly (readonly [field: string, say: (value: unknown, clock: (iso: string) => string) => string])[] = [
  ['message', String],
  ['signal', String],
  ['payload', (payload) => (isFields(payload) && payload.stepId !== undefined ? String(payload.stepId) : '')],
  ['refused', (reason) => `refused: ${String(reason)}`],
  ['attempt', (attempt) => `attempt ${String(attempt)}`],
  ['outcome', (outcome) => `as ${String(outcome)}`],
  ['error', (error) => (isFields(error) ? `${String(error.code)}: ${String(error.message)}` : String(error))],
  ['reason', String],
  ['satisfied', (edges) => list(edges).map(edgeText).join(', ')],
  ['unsatisfied', (edges) => (list(edges).length === 0 ? '' : `not taken: ${list(edges).map(edgeText).join(', ')}`)],
  ['nodes', (nodes) => list(nodes).join(', ')],
  ['until', (at, clock) => `until ${clock(String(at))}`],
  ['deadline', (at, clock) => `deadline ${clock(String(at))}`],
  ['bytes', (bytes) => bytesText(Number(bytes))],
];

/** `clock` says a time as the reader wants to see it. */
export function eventText(data: unknown, clock: (iso: string) => string): string {
  if (!isFields(data)) return JSON.stringify(data) ?? '';
  const parts = SAID.flatMap(([field, say]) => {
    const text = data[field] === undefined ? '' : say(data[field], clock);
    return text === '' ? [] : [text];
  });
  return parts.length === 0 && Object.keys(data).length > 0 ? JSON.stringify(data) : parts.join(', ');
}

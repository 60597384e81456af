// Fields that every answer shares: times as ISO 8601, stored JSON as values, absent fields left out.

import { isoTime as isoTimeOf } from '../../clock/clock.ts';
import type { Json } from '../../core/json/json.ts';

/** Leaves undefined fields out, so that an absent value is absent in every form of the answer. */
export function present<Shape extends object>(fields: { [Key in keyof Shape]: Shape[Key] | undefined }): Shape {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Shape;
}

export const parsed = (text: string | null): Json | undefined =>
  text === null ? undefined : (JSON.parse(text) as Json);

export function isoTime(at: number): string;
export function isoTime(at: number | null): string | undefined;
export function isoTime(at: number | null): string | undefined {
  return at === null ? undefined : isoTimeOf(at);
}

// The forms of options. A value comes from a program, a file or the environment, where everything is text. Each form parses text,
// and leaves a text that it cannot read to its schema.

import { z } from 'zod';

const NUMBER = /^-?\d+(\.\d+)?$/;

const numberIfText = (value: unknown): unknown =>
  typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value;

export const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  z.preprocess(numberIfText, z.int().min(least).max(most));

export const atLeast = (least: number, otherwise: number) => wholeNumber(least).default(otherwise);

export const fraction = (least: number, most: number, otherwise: number) =>
  z.preprocess(numberIfText, z.number().min(least).max(most)).default(otherwise);

const FLAGS: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

export const flag = (otherwise: boolean) =>
  z
    .preprocess((value) => (typeof value === 'string' ? (FLAGS[value.trim()] ?? value) : value), z.boolean())
    .default(otherwise);

/** `a, b`. */
export const list = z
  .preprocess(
    (value) => (typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value),
    z.array(z.string()),
  )
  .default([]);

export function parsedIfText(value: unknown): unknown {
  try {
    return typeof value === 'string' ? JSON.parse(value) : value;
  } catch {
    return value;
  }
}

/** `a=1,b=2`, as OpenTelemetry's own variables have it, or JSON. */
function pairsIfText(value: unknown): unknown {
  if (typeof value !== 'string' || value.trimStart().startsWith('{')) return parsedIfText(value);
  const pairs = value.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2).map((part) => part.trim())));
}

export const headers = z.preprocess(pairsIfText, z.record(z.string(), z.string())).default({});

/** `{"slack.post-message": 5}`. */
export const limits = z.preprocess(parsedIfText, z.record(z.string(), z.int().min(1))).default({});

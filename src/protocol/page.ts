// Every list of the API: `{ data, nextCursor? }`. A cursor is opaque to clients; no cursor, no further page.

import { z } from 'zod';

export const DEFAULT_PAGE = 50;
export const MAX_PAGE = 200;

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(minimum < 0 ? /^-?\d{1,9}$/ : /^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(minimum).max(maximum));

/** A number in a query string. */
export const queryNumber = wholeNumber;

export const queryFlag = z.enum(['true', 'false']).transform((text) => text === 'true');

export const pageQuery = {
  limit: wholeNumber(1, MAX_PAGE).default(DEFAULT_PAGE),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,300}$/, 'is not a cursor of this list')
    .optional(),
};

/** Of a list that is short enough to come whole: it does, unless a limit is asked for. */
export const shortListQuery = { limit: wholeNumber(1, MAX_PAGE).optional(), cursor: pageQuery.cursor };

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), nextCursor: z.string().optional() });

/** Several values: comma separated, or the parameter given several times. */
export const queryChoices = <const Choice extends string>(choices: readonly Choice[]) =>
  z.preprocess(
    (given) => (Array.isArray(given) ? given.join(',') : given),
    z
      .string()
      .transform((text) => text.split(',').map((part) => part.trim()))
      .transform((parts) => parts.filter((part) => part !== ''))
      .pipe(z.array(z.enum(choices))),
  );

// Every list of the API: `{ data, nextCursor? }`. A cursor is opaque to clients; no cursor, no further page.

import { z } from 'zod';

export const DEFAULT_PAGE = 50;
export const MAX_PAGE = 200;

/** A number in a query string. It arrives as text; `meta` makes the API's description show a number instead. */
export const queryNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(minimum < 0 ? /^-?\d{1,10}$/ : /^\d{1,10}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(minimum).max(maximum))
    .meta({ type: 'integer', minimum, maximum, pattern: undefined });

export const queryFlag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .meta({ type: 'boolean', enum: undefined });

const limit = queryNumber(1, MAX_PAGE);

/** The pattern is exact: every text that matches is a position in the list. */
export const cursorOf = (form: RegExp) => z.string().regex(form, 'is not a cursor of this list');

/** For lists ordered by ids that the database generates. */
export const uuidCursor = cursorOf(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
export const numberCursor = cursorOf(/^\d{1,18}$/);

export const pageQuery = {
  limit: limit.default(DEFAULT_PAGE).meta({ default: DEFAULT_PAGE }),
  cursor: cursorOf(/^after\.(?:[0-9a-f]{2}){0,400}$/).optional(),
};

/** For a list that is short enough to come whole: it does, unless the query has a limit. */
export const shortListQuery = { limit: limit.optional(), cursor: pageQuery.cursor };

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), nextCursor: z.string().optional() });

/** Several values: comma separated, or the parameter given several times. */
export const queryChoices = <const Choice extends string>(choices: readonly Choice[]) =>
  z
    .preprocess(
      (given) => (Array.isArray(given) ? given.join(',') : given),
      z
        .string()
        .transform((text) => text.split(',').map((part) => part.trim()))
        .transform((parts) => parts.filter((part) => part !== ''))
        .pipe(z.array(z.enum(choices))),
    )
    .meta({ type: 'array', items: { type: 'string', enum: [...choices] } });

/** A query as a client writes it: lists, numbers and flags as such, everything else as text. */
export type QueryOf<Schema extends z.ZodObject> = {
  readonly [Name in keyof Schema['shape'] as Name extends 'tenantId' ? never : Name]?:
    | Written<Schema['shape'][Name]>
    | undefined;
};

type Written<Field> =
  Field extends z.ZodOptional<infer Inner>
    ? Written<Inner>
    : Field extends z.ZodDefault<infer Inner>
      ? Written<Inner>
      : Field extends z.ZodPipe<infer _From, z.ZodNumber>
        ? number
        : z.output<Field> extends readonly (infer Item)[]
          ? readonly Item[]
          : z.output<Field> extends boolean
            ? boolean
            : z.input<Field>;

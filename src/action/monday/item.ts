// An item as workflows see it: its columns by title, each as the text that Monday shows, beside `id`, `Name`, `Group` and `url`.
// The id and the name are always the item's own; of two columns with the same title the first counts.

import { z } from 'zod';

export const ITEM_FIELDS = `id name url group { title } column_values {
  id text column { title }
  ... on BoardRelationValue { display_value }
  ... on DependencyValue { display_value }
  ... on MirrorValue { display_value }
}`;

export const rawItem = z.object({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  group: z.object({ title: z.string() }).nullable(),
  column_values: z.array(
    z.object({
      id: z.string(),
      text: z.string().nullable().optional(),
      display_value: z.string().nullable().optional(),
      column: z.object({ title: z.string() }),
    }),
  ),
});
export type RawItem = z.output<typeof rawItem>;

/** For the catalog: the fixed members, and the columns of the board. */
export const item = z
  .object({ id: z.string(), Name: z.string(), Group: z.string().nullable(), url: z.string() })
  .catchall(z.string().nullable());
export type Item = z.output<typeof item>;

export function readItem({ id, name, url, group, column_values: values }: RawItem): Item {
  const columns = values.toReversed().map(({ text, display_value: display, column }) => {
    return [column.title, text ?? display ?? null] as const;
  });
  // Object.fromEntries creates own members, whatever the titles (S8).
  return {
    Group: group?.title ?? null,
    url,
    ...Object.fromEntries(columns),
    id,
    Name: name,
  };
}

/** Ids arrive as text or, from a trigger, as numbers. */
export const numericId = z
  .union([z.string().regex(/^\d+$/, 'expected a numeric id'), z.int().positive()])
  .transform(String);

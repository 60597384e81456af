// Every list of the API comes in pages; this walks them.

import type { Page } from '../protocol/answer.ts';

/** Every item of a list, page after page: `for await (const run of everyItem((cursor) => client.workflows.runs(id, { cursor })))`. */
export async function* everyItem<Item>(
  list: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  for (let cursor: string | undefined; ; ) {
    const page = await list(cursor);
    yield* page.data;
    cursor = page.nextCursor;
    if (cursor === undefined) return;
  }
}

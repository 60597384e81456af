// Puts the items of one column where they would like to be, as nearly as their order and the room between them allow: least
// squares under "each at least so far below the one before" (pool adjacent violators).

export interface Spreadable {
  readonly wish: number;
  /** Half the room it needs, upwards and downwards. */
  readonly half: number;
}

/** The middle of each, from top to bottom. */
export function spread(items: readonly Spreadable[], gap: number): number[] {
  // Without the room that the items above it need, the middles only have to be in order.
  const offsets: number[] = [];
  let offset = 0;
  for (const [index, { half }] of items.entries()) {
    if (index > 0) offset += items[index - 1]!.half + gap + half;
    offsets.push(offset);
  }
  const pools: { sum: number; count: number }[] = [];
  for (const [index, { wish }] of items.entries()) {
    let pool = { sum: wish - offsets[index]!, count: 1 };
    for (let above = pools.at(-1); above !== undefined && mean(above) > mean(pool); above = pools.at(-1)) {
      pool = { sum: pool.sum + above.sum, count: pool.count + above.count };
      pools.pop();
    }
    pools.push(pool);
  }
  const middles = pools.flatMap((pool) => new Array<number>(pool.count).fill(mean(pool)));
  return middles.map((middle, index) => middle + offsets[index]!);
}

const mean = ({ sum, count }: { sum: number; count: number }): number => sum / count;

// Puts the items of one column as close to their preferred positions as their order and spacing allow: least squares under a
// minimum distance (pool adjacent violators).

export interface Spreadable {
  readonly wish: number;
  /** Half the room it needs, upwards and downwards. */
  readonly half: number;
}

/** The middle of each, from top to bottom. */
export function spread(items: readonly Spreadable[], gap: number): number[] {
  // After subtracting the room of the items above, the middles only have to be in order.
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

// A queue in which owners take turns: a thousand items of one owner delay another owner's first item by one (I22).

export class FairQueue<Item> {
  private readonly lines = new Map<string, Item[]>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  push(owner: string, item: Item): void {
    const line = this.lines.get(owner);
    if (line === undefined) this.lines.set(owner, [item]);
    else line.push(item);
    this.count += 1;
  }

  /** The first item of the owner whose turn it is; that owner then goes to the end of the line. */
  shift(): Item | undefined {
    const [next] = this.lines;
    if (next === undefined) return undefined;
    const [owner, line] = next;
    const item = line.shift();
    this.lines.delete(owner);
    if (line.length > 0) this.lines.set(owner, line);
    this.count -= 1;
    return item;
  }

  remove(owner: string, item: Item): void {
    const line = this.lines.get(owner);
    const place = line?.indexOf(item) ?? -1;
    if (line === undefined || place < 0) return;
    line.splice(place, 1);
    if (line.length === 0) this.lines.delete(owner);
    this.count -= 1;
  }
}

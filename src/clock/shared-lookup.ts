// Callers who ask the same question at the same time share one look-up. Nobody gets the answer to a question that was asked
// earlier: a caller reads its own last write. While an answer is on its way, the next question collects callers.

export class SharedLookup<Answer> {
  private readonly load: (key: string) => Promise<Answer>;
  private readonly asking = new Map<string, Promise<unknown>>();
  private readonly next = new Map<string, Promise<Answer>>();

  constructor(load: (key: string) => Promise<Answer>) {
    this.load = load;
  }

  get(key: string): Promise<Answer> {
    const known = this.next.get(key);
    if (known !== undefined) return known;
    const previous = this.asking.get(key) ?? Promise.resolve();
    const answer = previous.then(() => {
      this.next.delete(key);
      return this.load(key);
    });
    const settled = answer.then(
      () => undefined,
      () => undefined,
    );
    this.next.set(key, answer);
    this.asking.set(key, settled);
    void settled.then(() => {
      if (this.asking.get(key) === settled) this.asking.delete(key);
    });
    return answer;
  }
}

// One at a time per key, in the order of asking. Two triggers of one instance that meet in this process need not fight over
// the same revision in the database; those of other processes are told apart by the compare-and-set.

export class Turns {
  private readonly last = new Map<string, Promise<unknown>>();

  take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.last.get(key);
    const result = before === undefined ? work() : before.then(work, work);
    this.last.set(key, result);
    const leave = () => {
      if (this.last.get(key) === result) this.last.delete(key);
    };
    result.then(leave, leave);
    return result;
  }
}

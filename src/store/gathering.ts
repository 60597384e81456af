// Questions of the same turn of the loop share one statement. For reads only: writes have their own rules (store/group-write.ts).

import type { Timers } from '../clock/timers.ts';
import { StoreError } from './store-error.ts';
import { unwalled } from './tenant-scope.ts';

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export class Gathering<Question, Answer> {
  private readonly timers: Pick<Timers, 'soon'>;
  private readonly maxBatch: number;
  private readonly askAll: (questions: Question[]) => Promise<Answer[]>;
  private waiting: Waiting<Question, Answer>[] = [];

  constructor(timers: Pick<Timers, 'soon'>, maxBatch: number, askAll: (questions: Question[]) => Promise<Answer[]>) {
    this.timers = timers;
    this.maxBatch = maxBatch;
    this.askAll = askAll;
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ question, resolve, reject });
      if (this.waiting.length === 1) this.timers.soon(() => this.flush());
    });
  }

  private flush(): void {
    const all = this.waiting;
    this.waiting = [];
    for (let from = 0; from < all.length; from += this.maxBatch) void this.send(all.slice(from, from + this.maxBatch));
  }

  private async send(batch: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await unwalled(() => this.askAll(batch.map(({ question }) => question)));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index]!);
    } catch (error) {
      // One question has bad data: halve the batch, so that only that one fails (I17).
      if (batch.length > 1 && error instanceof StoreError && error.failure === 'data') {
        const middle = batch.length >> 1;
        await Promise.all([this.send(batch.slice(0, middle)), this.send(batch.slice(middle))]);
        return;
      }
      for (const { reject } of batch) reject(error);
    }
  }
}

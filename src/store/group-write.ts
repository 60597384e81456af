// Many writes that come together become one statement, and each is answered only when it is durable (I1). While statements
// are on their way, what arrives collects for the next. Where the data of one is at fault the batch is halved until it is
// alone with it: the others must not pay for it (I17). What a batch is, and what its answers are, the owner says.

import { PawlError } from '../core/error/pawl-error.ts';
import { StoreError, UNSTORABLE_TEXT } from './store-error.ts';
import { unwalled } from './tenant-scope.ts';

export interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface GroupWriteDeps<Item, Answer> {
  /** Calls back in the next turn of the loop. */
  readonly timers: { soon(callback: () => void): void };
  readonly maxInFlight: number;
  /** Of those that wait, never none: who goes next, and who goes on waiting. */
  readonly split: (waiting: Waiting<Item, Answer>[]) => [next: Waiting<Item, Answer>[], left: Waiting<Item, Answer>[]];
  /** Answers all of them, or rejects if it has written nothing. */
  readonly write: Write<Item, Answer>;
}

export class GroupWrite<Item, Answer> {
  private readonly deps: GroupWriteDeps<Item, Answer>;
  private waiting: Waiting<Item, Answer>[] = [];
  private inFlight = 0;
  private scheduled = false;

  constructor(deps: GroupWriteDeps<Item, Answer>) {
    this.deps = deps;
  }

  submit(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled || this.inFlight === this.deps.maxInFlight || this.waiting.length === 0) return;
    this.scheduled = true;
    this.deps.timers.soon(() => {
      this.scheduled = false;
      void this.flush();
    });
  }

  private async flush(): Promise<void> {
    const [batch, left] = this.deps.split(this.waiting);
    this.waiting = left;
    this.inFlight++;
    this.schedule();
    await unwalled(() => writeGroup(batch, this.deps.write));
    this.inFlight--;
    this.schedule();
  }
}

type Write<Item, Answer> = (batch: readonly Waiting<Item, Answer>[]) => Promise<void>;

/** Never rejects: whoever cannot be written is told. */
export async function writeGroup<Item, Answer>(
  batch: readonly Waiting<Item, Answer>[],
  write: Write<Item, Answer>,
): Promise<void> {
  try {
    await write(batch);
  } catch (error) {
    const isTheirs = error instanceof StoreError && error.failure === 'data';
    if (!isTheirs || batch.length === 1) {
      for (const { reject } of batch) reject(isTheirs ? refusal(error) : error);
      return;
    }
    const middle = batch.length >> 1;
    await writeGroup(batch.slice(0, middle), write);
    await writeGroup(batch.slice(middle), write);
  }
}

function refusal({ isUnstorableText }: StoreError): PawlError {
  const message = isUnstorableText ? UNSTORABLE_TEXT : 'the request holds a value that cannot be stored';
  return new PawlError('REQUEST_INVALID', message);
}

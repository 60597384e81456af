// Log lines of running attempts, for people who follow an execution. An attempt's lines are stored with its result. The lines of a long
// attempt are also written now and then, and dropped when it has ended. A short attempt costs only a place in a set. A line that is lost
// here is not lost: the result has it.

import type { AttemptRequest } from '../../action/attempt.ts';
import type { LogLine } from '../../action/log.ts';
import type { Timers } from '../../clock/timers.ts';
import type { LiveLineStore } from '../../store/live-line-port.ts';
import { StoreError } from '../../store/store-error.ts';
import { asProgram } from '../../store/tenant-scope.ts';

export interface LiveLinesDeps {
  readonly store: Pick<LiveLineStore, 'liveLinePut' | 'liveLineDrop'>;
  readonly timers: Pick<Timers, 'after'>;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
  /** Lines were written; `id` grows with each. */
  readonly told: (executionId: string, id: number) => void;
}

type Attempt = Pick<AttemptRequest, 'executionId' | 'nodeId' | 'attempt'>;

interface Feed {
  readonly attempt: Attempt;
  readonly lines: readonly LogLine[];
  sent: number;
  /** It was there in the round before. */
  isOld: boolean;
}

const EVERY_MS = 500;

export class LiveLines {
  private readonly deps: LiveLinesDeps;
  private readonly open = new Set<Feed>();
  private ended: Feed[] = [];
  private isStopped = false;
  private cancel: (() => void) | null = null;
  private round: Promise<void> = Promise.resolve();

  constructor(deps: LiveLinesDeps) {
    this.deps = deps;
  }

  /** The lines may grow until the returned function is called. */
  begin({ executionId, nodeId, attempt }: Attempt, lines: readonly LogLine[]): () => void {
    const feed: Feed = { attempt: { executionId, nodeId, attempt }, lines, sent: 0, isOld: false };
    this.open.add(feed);
    this.lookLater();
    return () => {
      this.open.delete(feed);
      if (feed.sent > 0) this.ended.push(feed);
    };
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancel?.();
    await this.round;
    await this.drop();
  }

  private lookLater(): void {
    if (this.isStopped) return;
    this.cancel ??= this.deps.timers.after(EVERY_MS, () => {
      this.round = asProgram(() => this.runOnce())
        .catch((error: unknown) => this.deps.warn('log lines could not be shown', { error: String(error) }))
        .finally(() => {
          this.cancel = null;
          if (this.open.size + this.ended.length > 0) this.lookLater();
        });
    });
  }

  private async runOnce(): Promise<void> {
    await this.drop();
    const due = [...this.open].filter((feed) => feed.isOld && feed.sent < feed.lines.length);
    for (const feed of this.open) feed.isOld = true;
    if (due.length === 0) return;
    const from = due.map(({ sent }) => sent);
    const lines = due.flatMap(({ attempt, lines: all, sent }) =>
      all.slice(sent).map((line, place) => ({ ...attempt, ...line, line: sent + place })),
    );
    // Before they are written: an attempt that ends meanwhile has lines to drop.
    for (const feed of due) feed.sent = feed.lines.length;
    try {
      for (const { executionId, id } of await this.deps.store.liveLinePut({ lines })) this.deps.told(executionId, id);
    } catch (error) {
      // Lines that cannot be stored are not tried again, or no attempt's lines would be shown: the result has them.
      const isBadData = error instanceof StoreError && error.failure === 'data';
      due.forEach((feed, place) => {
        if (!isBadData) feed.sent = from[place]!;
      });
      throw error;
    }
  }

  private async drop(): Promise<void> {
    const { ended } = this;
    if (ended.length === 0) return;
    this.ended = [];
    await this.deps.store.liveLineDrop({ attempts: ended.map(({ attempt }) => attempt) });
  }
}

// Informational events that nobody has to answer. Listeners of this process and the log get them at once. They are also written
// to a table, many at a time, for the list, the stream and listeners of other processes. A notice that cannot be written is still
// told here. When the database is slow a limited number waits, and the number of dropped ones is logged.

import { EventEmitter } from 'node:events';
import type { Timers } from '../clock/timers.ts';
import type { Json } from '../core/json/json.ts';
import type { Notice } from '../lifecycle/machine/decision.ts';
import type { DeliveryStore, NewNotice } from '../store/delivery-port.ts';
import type { Timestamp } from '../store/port.ts';
import type { DeliveryObserver } from './environment.ts';

export interface RaisedNotice extends Notice {
  readonly tenantId: string;
  readonly at: Timestamp;
}

/** A notice from the table. */
export interface NoticeView {
  readonly id: string;
  readonly at: Timestamp;
  readonly kind: string;
  readonly message: string;
  readonly details: Json;
}

export interface NoticesDeps {
  readonly store: Pick<DeliveryStore, 'noticeAdd' | 'noticeGet' | 'noticeList'>;
  readonly timers: Timers;
  readonly wallClockMs: () => number;
  readonly observer: DeliveryObserver;
  readonly log?: (notice: RaisedNotice) => void;
  /** These notices are in the table now, for listeners of other processes. */
  readonly written?: (noticeIds: readonly string[]) => void;
}

const FLUSH_AFTER_MS = 100;
const BATCH = 500;
const MAX_KEPT_BACK = 10_000;
const FOLLOW_POLL_MS = 1_000;
const PAGE = 200;

export class Notices {
  private readonly deps: NoticesDeps;
  private readonly emitter = new EventEmitter().setMaxListeners(0);
  private keptBack: NewNotice[] = [];
  private lost = 0;
  private writing: Promise<void> | null = null;
  private cancelTimer: (() => void) | null = null;
  private readonly followers = new Set<() => void>();

  constructor(deps: NoticesDeps) {
    this.deps = deps;
  }

  raise(tenantId: string, notices: readonly Notice[]): void {
    for (const notice of notices) {
      const raised = { ...notice, tenantId, at: this.deps.wallClockMs() };
      this.deps.log?.(raised);
      this.tell(raised);
      const body = JSON.stringify({ message: notice.message, details: notice.details });
      if (this.keptBack.length < MAX_KEPT_BACK) {
        this.keptBack.push({ tenantId, kind: notice.kind, body, at: raised.at });
      } else this.lost++;
    }
    this.schedule();
  }

  /** Calls back for notices of this process at once, and of others once they are written. The returned function unsubscribes. */
  onNotice(listener: (notice: RaisedNotice) => void): () => void {
    this.emitter.on('notice', listener);
    return () => void this.emitter.off('notice', listener);
  }

  /** Newest last. */
  async list(tenantId: string, page: { afterId: string | null; limit: number }): Promise<NoticeView[]> {
    const rows = await this.deps.store.noticeList({ tenantId, ...page });
    return rows.map(({ id, at, kind, body }) => ({ id, at, kind, ...(JSON.parse(body) as NoticeBody) }));
  }

  /** Pages of notices of all processes as they come, from the next one or after the given id, with an empty page now and then. */
  async *follow(tenantId: string, afterId: string | null, signal: AbortSignal): AsyncGenerator<NoticeView[]> {
    let after = afterId ?? (await this.list(tenantId, { afterId: null, limit: 1 })).at(-1)?.id ?? '0';
    while (!signal.aborted) {
      const page = await this.list(tenantId, { afterId: after, limit: PAGE });
      after = page.at(-1)?.id ?? after;
      yield page;
      if (page.length < PAGE) await this.news(signal);
    }
  }

  /** Resolves when every raised notice is in the table or was reported lost. */
  async flush(): Promise<void> {
    this.cancelTimer?.();
    this.cancelTimer = null;
    while (this.keptBack.length > 0 || this.writing !== null) {
      this.writing ??= this.write().finally(() => {
        this.writing = null;
      });
      await this.writing;
    }
  }

  /** Another process has written these. If they cannot be read now, the list and the streams have them later. */
  async heard(noticeIds: readonly string[]): Promise<void> {
    for (const wake of this.followers) wake();
    if (this.emitter.listenerCount('notice') === 0) return;
    try {
      for (const { tenantId, kind, body, at } of await this.deps.store.noticeGet({ noticeIds })) {
        this.tell({ ...(JSON.parse(body) as Omit<Notice, 'kind'>), kind: kind as Notice['kind'], tenantId, at });
      }
    } catch (error) {
      this.deps.observer.warn('notices of another process could not be read', { error: (error as Error).message });
    }
  }

  private tell(raised: RaisedNotice): void {
    try {
      this.emitter.emit('notice', raised);
    } catch (error) {
      this.deps.observer.warn('a listener for notices threw', { error: (error as Error).message });
    }
  }

  private schedule(): void {
    if (this.cancelTimer !== null) return;
    this.cancelTimer = this.deps.timers.after(FLUSH_AFTER_MS, () => void this.flush());
  }

  private async write(): Promise<void> {
    const batch = this.keptBack.splice(0, BATCH);
    try {
      const noticeIds = await this.deps.store.noticeAdd({ notices: batch });
      this.deps.written?.(noticeIds);
    } catch (error) {
      this.lost += batch.length;
      this.deps.observer.warn('notices could not be written', { error: (error as Error).message });
    }
    if (this.lost > 0) this.deps.observer.warn('notices are missing from the list', { count: this.lost });
    this.lost = 0;
    for (const wake of this.followers) wake();
  }

  /** Waits until this process writes some, or until it is time to look for those of others. */
  private async news(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.deps.timers.after(FOLLOW_POLL_MS, resolve);
    const wake = () => resolve();
    this.followers.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    if (!signal.aborted) await promise;
    cancel();
    this.followers.delete(wake);
    signal.removeEventListener('abort', wake);
  }
}

interface NoticeBody {
  readonly message: string;
  readonly details: Json;
}

// The triggers that listen to a type of event, kept in memory with the index of their filters. Every look begins with one small
// statement that tells whether anything about them has changed, so nobody is answered from a list that was outdated when they asked.
// Events that come together share the look.

import { SharedLookup } from '../clock/shared-lookup.ts';
import { RecentCache } from '../core/cache/recent-cache.ts';
import type { Json } from '../core/json/json.ts';
import type { TriggerRecord, TriggerStore } from '../store/trigger-port.ts';
import type { Judge, Verdict } from './activation.ts';
import { FilterIndex } from './filter-index.ts';

export interface TriggerEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Json;
}

export interface Listener {
  readonly trigger: TriggerRecord;
  readonly filter: string | null;
}

interface Listening {
  readonly stamp: string;
  readonly listeners: readonly Listener[];
  readonly index: FilterIndex;
}

const PAGE = 200;
const KEPT_BYTES = 32 * 1024 * 1024;
/** About what a trigger takes beside its texts. */
const TRIGGER_BYTES = 1_000;

export class EventListeners {
  private readonly store: Pick<TriggerStore, 'eventTriggerStamp' | 'eventTriggerList'>;
  private readonly judge: Judge;
  private readonly kept = new RecentCache<Listening>(KEPT_BYTES);
  private readonly looking: SharedLookup<Listening>;

  constructor(store: EventListeners['store'], judge: Judge) {
    this.store = store;
    this.judge = judge;
    this.looking = new SharedLookup((key) => this.look(key));
  }

  /** Those that may want the event, in the order of their ids. Their filters are still to be asked. */
  async candidates(tenantId: string, event: TriggerEvent): Promise<Listener[]> {
    const { listeners, index } = await this.looking.get(JSON.stringify({ tenantId, eventType: event.type }));
    return index.candidates(event).map((place) => listeners[place]!);
  }

  /** null: it has no filter. */
  async verdict({ trigger, filter }: Listener, event: TriggerEvent): Promise<Verdict | null> {
    if (filter === null) return null;
    const { workflowFormat } = trigger;
    const seen = workflowFormat === 'pipeline' ? { body: event.data, headers: {} } : event.data;
    return this.judge.verdict('filter', filter, workflowFormat, { trigger: seen, event });
  }

  private async look(key: string): Promise<Listening> {
    const listeningTo = JSON.parse(key) as { tenantId: string; eventType: string };
    const stamp = await this.store.eventTriggerStamp(listeningTo);
    const known = this.kept.get(key);
    if (known?.stamp === stamp) return known;
    // Whatever changes while the pages are read has another stamp, and is read again with the next look.
    const listeners = (await this.readAll(listeningTo)).map((trigger) => ({ trigger, filter: filterIn(trigger) }));
    const filters = listeners.map(({ trigger, filter }) => {
      const { workflowFormat } = trigger;
      const expr = filter === null ? null : this.judge.filterExpression(filter, workflowFormat);
      return { expr, isPipeline: workflowFormat === 'pipeline' };
    });
    const listening = { stamp, listeners, index: new FilterIndex(filters) };
    const bytes = listeners.reduce((sum, { trigger }) => sum + TRIGGER_BYTES + trigger.config.length * 4, 0);
    this.kept.set(key, listening, bytes);
    return listening;
  }

  private async readAll(listeningTo: { tenantId: string; eventType: string }): Promise<TriggerRecord[]> {
    const all: TriggerRecord[] = [];
    for (let afterId: string | null = null; ; ) {
      const page: TriggerRecord[] = await this.store.eventTriggerList({ ...listeningTo, afterId, limit: PAGE });
      all.push(...page);
      if (page.length < PAGE) return all;
      afterId = page.at(-1)!.triggerId;
    }
  }
}

function filterIn({ config }: TriggerRecord): string | null {
  const { filter = null } = JSON.parse(config) as { filter?: string };
  return filter;
}

// The live data of every page: counts of live executions, health, dead letters, and changed rows. One stream per visible tab,
// closed after ten hidden seconds. A broken stream reconnects after half a second, doubling to thirty; a full server is polled
// every fifteen.

import { useSyncExternalStore } from 'react';
import type { LiveNowJson } from '../../../src/protocol/live.ts';
import { pawl } from './client.ts';
import type { ExecutionRow } from './executions.ts';

/** `broken`: the stream was cut off or could not be opened, and is tried again. */
export type LiveState = 'open' | 'opening' | 'closed' | 'polling' | 'broken';

interface Live {
  readonly state: LiveState;
  readonly now: Omit<LiveNowJson, 'health' | 'newest'> | null;
  readonly health: LiveNowJson['health'] | null;
  readonly newest: string | null;
  readonly rows: ReadonlyMap<string, ExecutionRow>;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
const POLL_MS = 15_000;
const HIDDEN_MS = 10_000;
/** How long after a change more changes are likely. */
const BUSY_MS = 25_000;
const IDLE_EVERY_MS = 60_000;
const MOST_ROWS = 500;
const MOST_WATCHED = 100;

let live: Live = { state: 'closed', now: null, health: null, newest: null, rows: new Map() };
let watched: readonly string[] = [];
let stream: AbortController | null = null;
const listeners = new Set<() => void>();
let isBusy = true;
let calm: ReturnType<typeof setTimeout> | undefined;

function change(next: Partial<Live>): void {
  live = { ...live, ...next };
  setBusy(true);
  clearTimeout(calm);
  if (live.state === 'open') calm = setTimeout(setBusy, BUSY_MS, false);
}

function setBusy(value: boolean): void {
  isBusy = value;
  for (const listener of listeners) listener();
}

async function run(signal: AbortSignal): Promise<void> {
  for (let delayMs = FIRST_DELAY_MS; !signal.aborted; ) {
    if (live.state !== 'broken') change({ state: 'opening' });
    try {
      for await (const { event, data } of pawl.system.watch(watched, { signal })) {
        delayMs = FIRST_DELAY_MS;
        take(event, data);
      }
    } catch (error) {
      if (signal.aborted) return;
      if ((error as { status?: number }).status === 503 && (await poll(signal))) continue;
    }
    change({ state: 'broken' });
    await pause(delayMs * (0.5 + Math.random() / 2), signal);
    delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS);
  }
}

function take(event: string, data: unknown): void {
  switch (event) {
    case 'now':
      return change({ state: 'open', now: data as Live['now'] });
    case 'health':
      return change({ state: 'open', health: data as Live['health'] });
    case 'newest':
      return change({ state: 'open', newest: (data as { executionId: string }).executionId });
    case 'rows':
      return change({ state: 'open', rows: withRows(data as readonly ExecutionRow[]) });
  }
}

function withRows(rows: readonly ExecutionRow[]): ReadonlyMap<string, ExecutionRow> {
  const next = new Map(live.rows);
  for (const row of rows) {
    next.delete(row.executionId);
    next.set(row.executionId, row);
  }
  return new Map([...next].slice(-MOST_ROWS));
}

/** false: that was refused, too. */
async function poll(signal: AbortSignal): Promise<boolean> {
  try {
    const { health, newest, ...now } = await pawl.system.now();
    change({ state: 'polling', now, health, newest: newest ?? null });
  } catch {
    return false;
  }
  await pause(POLL_MS, signal);
  return true;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function open(): void {
  stream ??= new AbortController();
  void run(stream.signal);
}

function close(): void {
  stream?.abort();
  stream = null;
  change({ state: 'closed' });
}

/** Called once, by the frame. */
export function keepLive(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listen = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(close, HIDDEN_MS);
    else if (stream === null) open();
  };
  document.addEventListener('visibilitychange', listen);
  open();
  return () => {
    document.removeEventListener('visibilitychange', listen);
    clearTimeout(timer);
    close();
  };
}

/**
 * Reports changes of this execution until the returned function is called. The stream reconnects, because its address names
 * what it watches.
 */
export function watchRow(id: string): () => void {
  const reopen = (next: readonly string[]) => {
    watched = next;
    if (stream === null) return;
    stream.abort();
    stream = null;
    open();
  };
  reopen([...watched, id].slice(-MOST_WATCHED));
  return () => reopen(watched.filter((_, index) => index !== watched.indexOf(id)));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useLive = (): Live => useSyncExternalStore(subscribe, () => live);

/** The row of an execution that `watchRow` named, as it last changed. */
export const useLiveRow = (id: string): ExecutionRow | undefined =>
  useSyncExternalStore(subscribe, () => live.rows.get(id));

/** How often to refresh data that changes with executions: rarely while the stream is open and quiet. */
export const useBeat = (everyMs: number): number =>
  useSyncExternalStore(subscribe, () => (isBusy ? everyMs : Math.max(everyMs, IDLE_EVERY_MS)));

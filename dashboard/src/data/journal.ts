// An execution's journal: read once, then followed while the execution is live and visible. A broken stream resumes; a tab that
// is hidden for ten seconds closes it. An ended execution has no stream: the live rows show a retry.

import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { isTerminal } from '../../../src/core/decider/state.ts';
import { foldTo, type Journal, type JournalTransition, withTransitions } from '../model/journal.ts';
import { pawl, queryClient } from './client.ts';
import type { ExecutionDetail } from './executions.ts';
import { useLiveRow, watchRow } from './live.ts';

const PAGE = 2_000;
const HIDDEN_MS = 10_000;
/** Facts that come together are shown together. */
const GATHER_MS = 100;

const keyOf = (id: string) => ['execution', id, 'journal'];

async function readJournal(id: string): Promise<Journal> {
  const first = await pawl.executions.journal(id, { limit: PAGE });
  const transitions: JournalTransition[] = [...first.transitions];
  const waits = [...first.waits];
  for (let { nextCursor } = first; nextCursor !== undefined; ) {
    const page = await pawl.executions.journal(id, { after: Number(nextCursor), limit: PAGE });
    transitions.push(...page.transitions);
    waits.push(...page.waits);
    nextCursor = page.nextCursor;
  }
  return { plan: first.plan!, start: first.start!, transitions, waits };
}

export function useJournal(id: string) {
  const client = useQueryClient();
  const isSeen = useIsSeen();
  const query = useQuery({ queryKey: keyOf(id), queryFn: () => readJournal(id), staleTime: Number.POSITIVE_INFINITY });
  const isLive = query.data !== undefined && !isTerminal(foldTo(query.data).status);
  useEffect(() => {
    if (!isLive || !isSeen) return;
    const stopping = new AbortController();
    void follow(client, id, stopping.signal);
    return () => stopping.abort();
  }, [client, id, isLive, isSeen]);
  useWakeUp(id, isLive);
  return query;
}

/** An ended execution that lives again is read anew. */
function useWakeUp(id: string, isLive: boolean): void {
  const row = useLiveRow(id);
  useEffect(() => (isLive ? undefined : watchRow(id)), [id, isLive]);
  useEffect(() => {
    const known = queryClient.getQueryData<ExecutionDetail>(['execution', id]);
    if (isLive || row === undefined || known === undefined) return;
    if (row.status !== known.status || row.completedAt !== known.completedAt) {
      void queryClient.invalidateQueries({ queryKey: ['execution', id] });
    }
  }, [id, isLive, row]);
}

const NEWS_AFTER_MS = [100, 200, 400, 800, 1_600];

/**
 * A command is accepted before the engine records its fact. This looks for the fact a few times; after that the live rows
 * must bring it.
 */
export async function lookForNews(id: string): Promise<void> {
  const lastSeq = () => queryClient.getQueryData<Journal>(keyOf(id))?.transitions.at(-1)?.seq;
  const after = lastSeq();
  if (after === undefined) return;
  for (const delayMs of NEWS_AFTER_MS) {
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (lastSeq() !== after) return;
    if ((await pawl.executions.journal(id, { after, limit: 1 })).transitions.length === 0) continue;
    return queryClient.invalidateQueries({ queryKey: ['execution', id] });
  }
}

async function follow(client: QueryClient, id: string, signal: AbortSignal): Promise<void> {
  const known = client.getQueryData<Journal>(keyOf(id));
  let gathered: JournalTransition[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = () => {
    const more = gathered;
    gathered = [];
    timer = undefined;
    client.setQueryData<Journal>(keyOf(id), (before) =>
      before === undefined ? before : withTransitions(before, more),
    );
    void client.invalidateQueries({ queryKey: ['execution', id], exact: true });
    void client.invalidateQueries({ queryKey: ['execution', id, 'node'] });
  };
  try {
    const after = known?.transitions.at(-1)?.seq ?? -1;
    for await (const transition of pawl.executions.transitions(id, { after, signal })) {
      gathered.push(transition);
      if (timer === undefined) timer = setTimeout(show, GATHER_MS);
    }
  } catch {
    // Aborted or refused: the shown data stays, and the page shows the execution's state.
  } finally {
    clearTimeout(timer);
    if (!signal.aborted && gathered.length > 0) show();
    // The stream has no waits for places: they are read with the whole journal once the execution has ended.
    if (!signal.aborted) void client.invalidateQueries({ queryKey: keyOf(id) });
  }
}

/** False once the tab has been hidden for a while. */
function useIsSeen(): boolean {
  const [isSeen, setSeen] = useState(!document.hidden);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listen = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => setSeen(false), HIDDEN_MS);
      else setSeen(true);
    };
    document.addEventListener('visibilitychange', listen);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', listen);
    };
  }, []);
  return isSeen;
}

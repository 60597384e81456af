// How long the executions of a killed runner stood still: from the kill to the first transition that another runner decided. Only
// executions with a running attempt count; an execution that slept had nothing to do meanwhile.

import type { Evidence, JournalEntry } from './evidence.ts';

export interface Takeover {
  readonly executionId: string;
  readonly ms: number;
}

export interface TakeoverLog {
  killed(runnerName: string, atMs: number): void;
  /** One per execution, the quickest first. */
  times(): Promise<Takeover[]>;
}

export function createTakeoverLog(evidence: Evidence): TakeoverLog {
  const notes: Promise<{ atMs: number; executionIds: string[] }>[] = [];
  return {
    killed(runnerName, atMs) {
      notes.push(evidence.owned(runnerName).then((executionIds) => ({ atMs, executionIds })));
    },
    async times() {
      const times: Takeover[] = [];
      for (const { atMs, executionIds } of await Promise.all(notes)) {
        for (const { executionId, journal } of (await evidence.records(executionIds)).values()) {
          const next = journal.find(({ at }) => at > atMs);
          if (next !== undefined && hadWorkAt(journal, atMs)) times.push({ executionId, ms: next.at - atMs });
        }
      }
      return times.sort((a, b) => a.ms - b.ms);
    },
  };
}

function hadWorkAt(journal: readonly JournalEntry[], atMs: number): boolean {
  const running = new Set<number>();
  for (const { at, facts } of journal) {
    if (at > atMs) break;
    for (const fact of facts) {
      if (fact.type === 'NodeStarted') running.add(fact.node);
      else if ('attempt' in fact) running.delete(fact.node);
    }
  }
  return running.size > 0;
}

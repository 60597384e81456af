// Waits for an unreachable database. Only for reads and for work that is harmless to repeat: commits have their own rules
// (committer.ts, parking.ts).

import type { Timers } from '../../clock/timers.ts';
import { StoreError } from '../../store/store-error.ts';
import type { EngineObserver } from '../environment.ts';

const RETRY_MS = 200;

export async function untilStoreAnswers(
  deps: { readonly timers: Timers; readonly observer: EngineObserver; readonly isOver: () => boolean },
  work: () => Promise<void>,
): Promise<void> {
  while (!deps.isOver()) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError) || (error.failure !== 'unknown' && error.failure !== 'retry')) throw error;
      deps.observer.warn('the database did not answer; trying again', { error: error.message });
      await new Promise<void>((resolve) => {
        deps.timers.after(RETRY_MS, resolve);
      });
    }
  }
}

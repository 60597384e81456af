// Actions that an operator disabled, directly or by their connector. Published workflows that use them go on, with a warning
// among their events. The list is refreshed now and then while attempts run; a change in this process counts at once.

import type { AttemptLogLine, AttemptResult } from '../../action/attempt.ts';
import type { Timers } from '../../clock/timers.ts';
import type { CatalogStore } from '../../store/catalog-port.ts';

/** The level of a line that the engine wrote, shown as a Warning. */
export const WARNING_LEVEL = 'warning';

const FRESH_MS = 2_000;

export class DisabledActions {
  private readonly store: Pick<CatalogStore, 'actionsNoticed'>;
  private readonly timers: Pick<Timers, 'monotonicMs'>;
  private known: ReadonlyMap<string, string | null> | null = null;
  private knownAt = 0;
  private looking: Promise<void> | null = null;

  constructor(store: Pick<CatalogStore, 'actionsNoticed'>, timers: Pick<Timers, 'monotonicMs'>) {
    this.store = store;
    this.timers = timers;
  }

  /** This process changed the catalog. */
  forget(): void {
    this.known = null;
  }

  isFresh(): boolean {
    return this.known !== null && this.timers.monotonicMs() - this.knownAt < FRESH_MS;
  }

  /** The result, with a warning before its other lines if the action is disabled. */
  noted(actionType: string, now: () => number, result: AttemptResult): AttemptResult {
    const notice = this.known?.get(actionType);
    return notice === undefined
      ? result
      : { ...result, logs: [warning(actionType, notice, now()), ...(result.logs ?? [])] };
  }

  /** Concurrent callers share one look. If it fails, the old list stays: a warning is not worth an attempt. */
  look(): Promise<void> {
    this.looking ??= this.store
      .actionsNoticed()
      .then((rows) => {
        const disabled = rows.filter(({ isEnabled }) => !isEnabled);
        this.known = new Map(disabled.map(({ id, deprecationNotice }) => [id, deprecationNotice]));
        this.knownAt = this.timers.monotonicMs();
      })
      .catch(() => {})
      .finally(() => {
        this.looking = null;
      });
    return this.looking;
  }
}

function warning(actionType: string, notice: string | null, at: number): AttemptLogLine {
  const advice = notice === null ? '' : `: ${notice}`;
  const message = `the action ${actionType} is disabled${advice}`;
  return { at, level: WARNING_LEVEL, message, data: JSON.stringify({ code: 'ACTION_DISABLED' }) };
}

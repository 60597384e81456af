// Actions that an operator has disabled, or whose connector is: what was published before runs on, with a warning among its
// events. Looked up now and then, and only while attempts are made; a change in this process counts at once.

import type { AttemptLogLine, AttemptResult } from '../../action/attempt.ts';
import type { Timers } from '../../clock/timers.ts';
import type { CatalogStore } from '../../store/catalog-port.ts';

/** Level of a line that the engine wrote and not the action: it is shown as a Warning. */
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

  /** The catalog was changed here. */
  forget(): void {
    this.known = null;
  }

  isFresh(): boolean {
    return this.known !== null && this.timers.monotonicMs() - this.knownAt < FRESH_MS;
  }

  /** A result as it is, or with a warning before its other lines: as far as is known. */
  noted(actionType: string, now: () => number, result: AttemptResult): AttemptResult {
    const notice = this.known?.get(actionType);
    return notice === undefined
      ? result
      : { ...result, logs: [warning(actionType, notice, now()), ...(result.logs ?? [])] };
  }

  /** One look for all who wait. If it fails, what was known stays: a warning is not worth an attempt. */
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

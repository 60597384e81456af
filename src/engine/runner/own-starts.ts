// Executions that this process accepts and has room for: they start as its own, without going through the queue
// (docs/decisions/0017). If the reply is lost, comparing finds them, like a lost claim (I18).

import type { Clock } from '../../clock/clock.ts';
import type { ClaimedExecution, NewExecution, StartOutcome, Store } from '../../store/port.ts';
import { StoreError } from '../../store/store-error.ts';
import type { EngineObserver } from '../environment.ts';
import type { Arrivals } from './arrivals.ts';
import type { Incarnation } from './incarnation.ts';

export interface OwnStartsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly observer: EngineObserver;
  readonly incarnation: Incarnation;
  readonly arrivals: Arrivals;
  /** It is unknown which executions were started. */
  readonly lost: (error: unknown) => Promise<void>;
}

export function startAsOwn(deps: OwnStartsDeps, items: NewExecution[]): Promise<StartOutcome[]> {
  const { store, incarnation, clock, observer, arrivals, lost } = deps;
  const claims = items.map(bornClaim);
  arrivals.expect(claims);
  return incarnation.runInSlotZero(async () => {
    const slotId = incarnation.registration.slotIds[0]!;
    try {
      const { outcomes, owned, at } = await store.executionStartOwned({ slotId, items });
      clock.observe(at);
      observer.count('claimed', owned.length);
      const ours = new Set(owned);
      arrivals.notArriving(claims.filter(({ executionId }) => !ours.has(executionId)));
      void arrivals.bringIn(claims.filter(({ executionId }) => ours.has(executionId)));
      return outcomes;
    } catch (error) {
      arrivals.notArriving(claims);
      if (!(error instanceof StoreError) || error.failure !== 'data') void lost(error);
      throw error;
    }
  });
}

/** In the form of a claim: never claimed before, and without mail. */
function bornClaim(item: NewExecution): ClaimedExecution {
  const { executionId, tenantId, workflowId, version, priority, createdAt } = item;
  const execution = { ...item, checkpoint: null, journal: [], attempts: [], inbox: [] };
  return { executionId, tenantId, workflowId, version, priority, epoch: 1, crashes: 0, readyAt: createdAt, execution };
}

// The activities of the interpreter: turns and attempts. Every business outcome is a value. A thrown error is retried by
// Temporal, on this worker or another one, and runs the same attempt again (I7).

import type * as ActivitySdk from '@temporalio/activity';
import { Stop } from '../../action/stop.ts';
import type { Open } from '../../engine/turn/open.ts';
import type { OutsideTurns } from '../../engine/turn/outside-turn.ts';
import type { ExternalStore } from '../../store/external-port.ts';
import type { RunCommands } from '../run-commands.ts';
import type { InterpreterActivities } from './interpreter.ts';

export interface TemporalActivitiesDeps {
  readonly sdk: Pick<typeof ActivitySdk, 'Context'>;
  readonly turns: Pick<OutsideTurns, 'advance' | 'runAttempt'>;
  readonly store: Pick<ExternalStore, 'externalNote'>;
  readonly commands: Pick<RunCommands, 'cancel'>;
  readonly heartbeatMs: number;
}

export type TemporalActivities = InterpreterActivities;

/** The next check of a run that takes turns by itself. */
const LOOK_AFTER_MS = 60_000;
const BEATS_PER_TIMEOUT = 4;
/** A cancellation arrives with the answer to a heartbeat. */
const BEAT_AT_MOST_MS = 1_000;

export function temporalActivities(deps: TemporalActivitiesDeps): TemporalActivities {
  const { turns, store, commands } = deps;
  return {
    async advance({ executionId, epoch, since, place }): Promise<Open> {
      const open = await turns.advance({ executionId, epoch, since });
      // The first turn of a run: its parent may have started it, so its place is not recorded yet.
      if (since === 0 && open.status !== 'Over') {
        const ref = JSON.stringify({ provider: 'temporal', ...place });
        void store.externalNote({ executionId, epoch, ref, lookAfterMs: LOOK_AFTER_MS }).catch(() => undefined);
      }
      return open;
    },
    cancelled: ({ executionId }) => commands.cancel(executionId, 'cancelled in Temporal'),
    runAttempt: (attempt) => withHeartbeat(deps, (stop) => turns.runAttempt(attempt, stop)),
  };
}

/** A heartbeat reports that this worker lives, and learns that the attempt must stop. */
async function withHeartbeat(
  { sdk, heartbeatMs }: TemporalActivitiesDeps,
  work: (stop: Stop) => Promise<Open>,
): Promise<Open> {
  const context = sdk.Context.current();
  const stop = new Stop();
  const told = () => stop.abort(context.cancellationSignal.reason);
  context.cancellationSignal.addEventListener('abort', told, { once: true });
  const beat = setInterval(() => context.heartbeat(), Math.min(BEAT_AT_MOST_MS, heartbeatMs / BEATS_PER_TIMEOUT));
  try {
    return await work(stop);
  } finally {
    clearInterval(beat);
    context.cancellationSignal.removeEventListener('abort', told);
  }
}

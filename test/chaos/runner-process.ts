// One runner as a process of its own, which the harness kills, pauses and starts again. It reports its counters a few times a
// second, so that a kill loses only the last moment of them.

import { createPawl } from '../../src/main.ts';
import { createEffectAction } from './effect-action.ts';
import type { EngineServer } from './engine-server.ts';

export interface RunnerSettings {
  readonly name: string;
  readonly databaseUrl: string;
  readonly leaseMs: number;
  readonly leaseMarginMs: number;
  /** The outside engine that runs the executions. */
  readonly engine?: EngineServer['config'] | undefined;
}

export type RunnerReport =
  | { readonly type: 'ready' }
  | { readonly type: 'metrics'; readonly metrics: Record<string, number> }
  | { readonly type: 'warning'; readonly event: string; readonly details: Record<string, unknown> };

/** The database was away when the process started: its supervisor tries again. */
export const COULD_NOT_START = 3;

const REPORT_EVERY_MS = 250;

if (process.send !== undefined) await run(JSON.parse(process.argv[2] ?? '{}') as RunnerSettings);

async function run(settings: RunnerSettings): Promise<void> {
  const report = (message: RunnerReport) => process.connected && process.send?.(message);
  process.on('disconnect', () => process.exit());
  const pawl = await start(settings, report).catch((error: unknown) => {
    report({ type: 'warning', event: 'could not start', details: { error: String(error) } });
    process.exit(COULD_NOT_START);
  });
  const reportMetrics = () => report({ type: 'metrics', metrics: Object.fromEntries(pawl.metrics) });
  const timer = setInterval(reportMetrics, REPORT_EVERY_MS);
  process.once('SIGTERM', async () => {
    await pawl.close();
    clearInterval(timer);
    reportMetrics();
    process.disconnect();
  });
  report({ type: 'ready' });
}

function start(settings: RunnerSettings, report: (message: RunnerReport) => unknown) {
  const { name, databaseUrl, leaseMs, leaseMarginMs, engine } = settings;
  return createPawl({
    ...engine,
    actions: [createEffectAction(name)],
    database: { url: databaseUrl, engineConnections: 8, readConnections: 3 },
    http: { allowLoopback: true },
    engine: {
      name,
      leaseMs,
      leaseMarginMs,
      parkAfterMs: 800,
      abortGraceMs: 1_000,
      pollMs: 200,
      inboxPollMs: 500,
      drainMs: 5_000,
      // The storm kills so often that four owners in a row die by chance, which proves nothing against the execution they ran.
      maxPoisonRetries: 12,
      // Small, so that a burst reaches the limit.
      maxParallelActions: 24,
    },
    onWarning: (event, details) => report({ type: 'warning', event, details }),
  });
}

// One process that takes triggers and acknowledgements, sends, and monitors. The harness kills it with -9.

import { createPawl } from '../../../src/main.ts';

interface NodeSettings {
  readonly databaseUrl: string;
  readonly port: number;
  readonly deliveredAfterMs: number;
  readonly processedAfterMs: number;
  readonly leaseMs: number;
}

await run(JSON.parse(process.argv[2]!) as NodeSettings);

async function run({ databaseUrl, port, deliveredAfterMs, processedAfterMs, leaseMs }: NodeSettings): Promise<void> {
  process.on('disconnect', () => process.exit());
  await createPawl({
    runner: false,
    serve: true,
    server: { host: '127.0.0.1', port },
    auth: { allowLooseAuth: true },
    rateLimit: { perTokenPerMinute: 1_000_000, perTokenBurst: 1_000_000 },
    database: { url: databaseUrl, engineConnections: 6, readConnections: 3 },
    http: { allowLoopback: true },
    delivery: { deliveredAfterMs, processedAfterMs },
    monitor: { intervalMs: 100, leaseMs },
  });
  process.send?.('ready');
}

// The server of an outside engine for a run: a real server that keeps its data on disk, so that the storm can kill and restart
// it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigInput } from '../../src/config/config.ts';
import type { OutsideDriver } from '../../src/store/external-port.ts';
import { conductorMissing, startConductor } from '../driver/conductor-server.ts';
import { startTemporal, type TestServer, temporalMissing } from '../driver/temporal-server.ts';

/** Why no run on this engine is possible; null: a run is possible. */
export const ENGINE_MISSING: Readonly<Record<OutsideDriver, string | null>> = {
  temporal: temporalMissing,
  conductor: conductorMissing,
};

export interface EngineServer {
  /** The configuration that Pawl gets for this engine. */
  readonly config: Pick<ConfigInput, 'driver' | 'temporal' | 'conductor'>;
  /** Kills the server with -9, and starts it again on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `isLasting`: the server keeps its data on disk. Otherwise Temporal keeps its data in memory, which is much faster. */
export async function startEngineServer(
  driver: OutsideDriver,
  { isLasting }: { readonly isLasting: boolean },
): Promise<EngineServer> {
  if (ENGINE_MISSING[driver] !== null) throw new Error(ENGINE_MISSING[driver]);
  const data = mkdtempSync(join(tmpdir(), 'pawl-chaos-engine-'));
  const place = isLasting ? { data } : {};
  const server: TestServer = await (driver === 'temporal' ? startTemporal(place) : startConductor());
  const { address } = server;
  return {
    config: {
      driver: { default: driver },
      ...(driver === 'temporal' ? { temporal: { address, heartbeatMs: 3_000 } } : { conductor: { url: address } }),
    },
    restart: () => server.restart(),
    async stop() {
      await server.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

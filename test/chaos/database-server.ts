// The database of a run: a real PostgreSQL with fsync on, which can be restarted in a good way and in two bad ways. It comes back
// in the same folder and on the same port.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbedded } from '../../src/store/embedded/embedded.ts';
import { lastingPorts } from '../support/lasting-port.ts';

/**
 * fast: clients are told, and transactions are rolled back. immediate: all connections are dropped, and the next start
 * recovers. kill: no notice at all.
 */
export type RestartKind = 'fast' | 'immediate' | 'kill';

export interface DatabaseServer {
  readonly port: number;
  readonly connectionString: string;
  restart(kind: RestartKind): Promise<void>;
  stop(): Promise<void>;
}

// TCP only, so that a proxy can stand in between.
const SETTINGS = { max_connections: '250', shared_buffers: '64MB', unix_socket_directories: '' };
const START_TRIES = 50;

export async function startDatabaseServer(): Promise<DatabaseServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-chaos-'));
  const [port] = (await lastingPorts(1)) as [number];
  let server = await startEmbedded({ dataDir, port, settings: SETTINGS });
  const { connectionString } = server;
  return {
    port,
    connectionString,
    async restart(kind) {
      if (kind === 'immediate') process.kill(server.pid, 'SIGQUIT');
      if (kind === 'kill') process.kill(server.pid, 'SIGKILL');
      await server.stop();
      server = await startAgain(dataDir, port);
    },
    async stop() {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Server processes may outlive a killed parent for a moment and keep the shared memory, which a new server refuses to share. */
async function startAgain(dataDir: string, port: number): Promise<EmbeddedPostgres> {
  for (let tries = 1; ; tries++) {
    try {
      return await startEmbedded({ dataDir, port, settings: SETTINGS });
    } catch (error) {
      if (tries === START_TRIES) throw error;
      await delay(100);
    }
  }
}

// Connections to Temporal: one for the client and one for the workers of a process, opened on first use.

import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { Client, Connection } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { EngineUnavailableError } from '../driver.ts';
import { loadClientSdk, loadWorkerSdk } from './sdk.ts';
import type { TemporalOptions, TemporalTls } from './temporal-options.ts';
import { temporalProblem } from './temporal-problem.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** How long a server may take to refuse our certificate. */
const REFUSAL_MS = 300;

export class TemporalConnections {
  private readonly options: TemporalOptions;
  private connection: Promise<Connection> | null = null;
  private native: Promise<NativeConnection> | null = null;
  private readonly clients = new Map<string, Client>();

  constructor(options: TemporalOptions) {
    this.options = options;
  }

  async client(namespace: string): Promise<Client> {
    const known = this.clients.get(namespace);
    if (known !== undefined) return known;
    const { Client: SdkClient } = await loadClientSdk();
    const client = new SdkClient({ connection: await this.forClient(), namespace });
    this.clients.set(namespace, client);
    return client;
  }

  /** A failed connection is tried again by the next caller. */
  forClient(): Promise<Connection> {
    this.connection ??= this.open(async (settings) => {
      const { Connection: SdkConnection } = await loadClientSdk();
      // Without the SDK's own retries: the caller retries, and a retry after close() would end the process.
      return SdkConnection.connect({ ...settings, connectTimeout: CONNECT_TIMEOUT_MS, interceptors: [] });
    }).catch((error) => {
      this.connection = null;
      throw error;
    });
    return this.connection;
  }

  forWorkers(): Promise<NativeConnection> {
    this.native ??= this.open(async (settings) => {
      const { NativeConnection: SdkConnection } = await loadWorkerSdk();
      return SdkConnection.connect(settings);
    }).catch((error) => {
      this.native = null;
      throw error;
    });
    return this.native;
  }

  async close(): Promise<void> {
    const [connection, native] = [this.connection, this.native];
    this.connection = null;
    this.native = null;
    this.clients.clear();
    await Promise.allSettled([connection?.then((open) => open.close()), native?.then((open) => open.close())]);
  }

  private async open<Opened>(connect: (settings: Settings) => Promise<Opened>): Promise<Opened> {
    const { address, tls, apiKey } = this.options;
    const files = await tlsFiles(tls);
    try {
      return await connect({ address, tls: files, ...(apiKey === undefined ? {} : { apiKey }) });
    } catch (error) {
      throw temporalProblem((await handshakeProblem(address, files)) ?? error, { address });
    }
  }
}

/** For a wrong certificate the SDK only reports a timeout. A handshake of our own finds the problem. */
async function handshakeProblem(address: string, tls: Tls): Promise<Error | null> {
  if (tls === false) return null;
  const { hostname, port } = new URL(`tcp://${address}`);
  const { serverRootCACertificate: ca, clientCertPair, serverNameOverride } = tls;
  const servername = serverNameOverride ?? (isIP(hostname) === 0 ? hostname : undefined);
  const socket = connect({
    host: hostname,
    port: Number(port),
    ALPNProtocols: ['h2'],
    ...(ca === undefined ? {} : { ca }),
    ...(clientCertPair === undefined ? {} : { cert: clientCertPair.crt, key: clientCertPair.key }),
    ...(servername === undefined ? {} : { servername }),
  });
  const { promise, resolve } = Promise.withResolvers<Error | null>();
  socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? null : error));
  // A server that refuses our certificate says so after its own part of the handshake.
  socket.once('secureConnect', () => setTimeout(resolve, REFUSAL_MS, null));
  socket.setTimeout(CONNECT_TIMEOUT_MS, () => resolve(null));
  const problem = await promise;
  socket.destroy();
  return problem;
}

type Settings = { address: string; tls: Tls; apiKey?: string };
type Tls =
  | false
  | {
      serverNameOverride?: string;
      serverRootCACertificate?: Buffer;
      clientCertPair?: { crt: Buffer; key: Buffer };
    };

async function tlsFiles({ enabled, caFile, certFile, keyFile, serverName }: TemporalTls): Promise<Tls> {
  const isWanted = enabled || [caFile, certFile, keyFile, serverName].some((given) => given !== undefined);
  if (!isWanted) return false;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new EngineUnavailableError('temporal.tls needs both certFile and keyFile, or neither');
  }
  return {
    ...(serverName === undefined ? {} : { serverNameOverride: serverName }),
    ...(caFile === undefined ? {} : { serverRootCACertificate: await pem(caFile, 'caFile') }),
    ...(certFile === undefined
      ? {}
      : { clientCertPair: { crt: await pem(certFile, 'certFile'), key: await pem(keyFile!, 'keyFile') } }),
  };
}

async function pem(file: string, option: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const why = (error as Error).message;
    throw new EngineUnavailableError(`temporal.tls.${option}: ${file} cannot be read (${why})`, { cause: error });
  }
}

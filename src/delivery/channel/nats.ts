// Consumers that are a bus: NATS JetStream. A message is published with its ackGuid as `Nats-Msg-Id`, so the stream keeps it
// once, however often it is sent within the deduplication window. The stream's acknowledgement means Delivered; the processing
// application acknowledges Processed through the API. The packages are optional and loaded with the first message to a bus.

import type { NatsConnection } from '@nats-io/transport-node';
import type { ClaimedDelivery } from '../../store/delivery-port.ts';
import type { Consumer } from '../consumer.ts';
import { busServer } from '../consumer-request.ts';
import { type Channel, DELIVERED, type Sent } from './channel.ts';

export interface NatsChannelDeps {
  readonly timeoutMs: number;
  /** Whether consumers may name this server (host:port). */
  readonly allowsBus: (server: string) => boolean;
}

interface Line {
  /** The settings of the open connection. */
  readonly key: string;
  readonly connection: Promise<NatsConnection>;
}

const DEFAULT_SUBJECT = 'pawl';

export class NatsChannel implements Channel {
  private readonly deps: NatsChannelDeps;
  private readonly lines = new Map<string, Line>();

  constructor(deps: NatsChannelDeps) {
    this.deps = deps;
  }

  async send(delivery: ClaimedDelivery, consumer: Consumer, signal: AbortSignal): Promise<Sent> {
    const timeout = consumer.settings.timeoutMs ?? this.deps.timeoutMs;
    const { jetstream } = await packages();
    const connection = await this.line(consumer, timeout);
    signal.throwIfAborted();
    await jetstream(connection, { timeout }).publish(subjectOf(delivery, consumer), delivery.body, {
      msgID: delivery.ackGuid,
      timeout,
    });
    return DELIVERED;
  }

  async close(): Promise<void> {
    const lines = [...this.lines.values()];
    this.lines.clear();
    await Promise.allSettled(lines.map(hangUp));
  }

  /** One connection per consumer, opened again when it broke for good or the address changed. */
  private async line({ consumerId, url, secrets }: Consumer, timeout: number): Promise<NatsConnection> {
    const key = JSON.stringify([url, secrets[0]]);
    const existing = this.lines.get(consumerId);
    if (existing?.key === key) {
      const connection = await existing.connection;
      if (!connection.isClosed()) return connection;
    }
    const current = this.lines.get(consumerId);
    if (current !== existing && current?.key === key) return current.connection;
    if (existing !== undefined) void hangUp(existing);
    const line = { key, connection: this.dial(new URL(url!), secrets[0], timeout) };
    this.lines.set(consumerId, line);
    try {
      return await line.connection;
    } catch (error) {
      if (this.lines.get(consumerId) === line) this.lines.delete(consumerId);
      throw error;
    }
  }

  private async dial(url: URL, token: string | undefined, timeout: number): Promise<NatsConnection> {
    const server = busServer(url);
    if (!this.deps.allowsBus(server)) throw new Error(`the server ${server} is not in delivery.natsServers`);
    const { connect } = await packages();
    return connect({
      servers: server,
      name: 'pawl',
      timeout,
      maxReconnectAttempts: -1,
      ...(token === undefined ? {} : { token }),
      ...(url.protocol === 'tls:' ? { tls: {} } : {}),
    });
  }
}

async function hangUp({ connection }: Line): Promise<void> {
  await (await connection.catch(() => null))?.close();
}

async function packages() {
  try {
    const [{ connect }, { jetstream }] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ]);
    return { connect, jetstream };
  } catch (error) {
    const install = 'npm install @nats-io/transport-node @nats-io/jetstream';
    throw new Error(`a consumer of kind nats needs two more packages: ${install}`, { cause: error });
  }
}

/** `pawl.<tenant>.<kind>.<lifecycle or workflow>.<event>`: streams select and subscribers filter by it. */
export function subjectOf({ tenantId, kind, source, event }: ClaimedDelivery, { settings }: Consumer): string {
  const parts = [tenantId, kind, source, event].map((part) => part.replace(/[^A-Za-z0-9_-]/g, '_') || '_');
  return [settings.subject ?? DEFAULT_SUBJECT, ...parts].join('.');
}

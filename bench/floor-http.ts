// The floor of accepting requests: Fastify, and the row of an execution, inserted by a bare loop with the same group commit (at
// most 256 rows in a statement, two in flight). No checks, no tenants, no idempotency, no look at the workflow.

import { randomBytes } from 'node:crypto';
import fastify from 'fastify';
import { uuidV7 } from '../src/core/id/id.ts';
import { openEngineDatabase } from '../src/store/postgres/database.ts';
import type { BenchDatabase } from './database.ts';
import type { Workload } from './workload.ts';
import { TENANT } from './workload.ts';

const BATCH = 256;
const IN_FLIGHT = 2;

const INSERT = {
  name: 'floor_start',
  text: `with accepted as (
    insert into workflow_executions (id, tenant_id, workflow_id, version, format, trigger, principal, correlation_id, request_id, created_at)
    select id, $2, $3, $4::int, $5, trigger, $6::json, id::text, id::text, clock_timestamp()
    from unnest($1::uuid[], $7::json[]) given (id, trigger)
    returning id, tenant_id, workflow_id, version, priority, behaviour)
  insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, behaviour)
  select id, tenant_id, workflow_id, version, priority, behaviour from accepted`,
};
const PRINCIPAL = JSON.stringify({ userId: 'system', displayName: 'System', email: null });

interface Waiting {
  readonly id: string;
  readonly trigger: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface FloorServer {
  readonly port: number;
  close(): Promise<void>;
}

export async function startHttpFloor(database: BenchDatabase, workload: Workload): Promise<FloorServer> {
  const connections = openEngineDatabase({
    connectionString: database.url,
    schema: 'public',
    maxConnections: IN_FLIGHT,
    applicationName: 'floor',
    queryTimeoutMs: 60_000,
  });
  const { workflowId, version, format } = workload;
  let waiting: Waiting[] = [];
  let inFlight = 0;
  const flush = async (): Promise<void> => {
    if (waiting.length === 0 || inFlight === IN_FLIGHT) return;
    const batch = waiting.slice(0, BATCH);
    waiting = waiting.slice(BATCH);
    inFlight++;
    const ids = batch.map(({ id }) => id);
    const triggers = batch.map(({ trigger }) => trigger);
    try {
      await connections.run(INSERT, [ids, TENANT, workflowId, version, format, PRINCIPAL, triggers]);
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    inFlight--;
    void flush();
  };
  const app = fastify();
  app.post<{ Body: { trigger: unknown } }>('/execute', async ({ body }, reply) => {
    const id = uuidV7(Date.now(), randomBytes(16));
    await new Promise<void>((resolve, reject) => {
      waiting.push({ id, trigger: JSON.stringify(body.trigger), resolve, reject });
      setImmediate(() => void flush());
    });
    return reply.code(202).send({ executionId: id, status: 'Pending', statusUrl: `/api/v1/executions/${id}` });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    port: (app.server.address() as { port: number }).port,
    async close() {
      await app.close();
      await connections.close();
    },
  };
}

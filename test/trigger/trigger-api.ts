// What the tests of triggers share: workflows to start, triggers for them, and signed webhooks.

import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { chain, echo, type Reply, type TestServer } from '../server/api-server.ts';

/** Publishes a workflow that echoes something. */
export async function publishEcho(server: TestServer, id: string, rest: JsonObject = {}): Promise<void> {
  await server.pawl.publish({ ...chain(id, echo('say', { message: 'hello' })), ...rest }, { tenantId: 'acme' });
}

export async function createTrigger(server: TestServer, trigger: JsonObject): Promise<JsonObject & { id: string }> {
  const { status, body } = await server.post('/api/v1/triggers', trigger);
  expect({ status, body }).toMatchObject({ status: 201 });
  return body as JsonObject & { id: string };
}

export interface Sent {
  readonly id?: string;
  readonly body?: string;
  readonly secret?: string;
  readonly ageSeconds?: number;
  readonly headers?: Record<string, string>;
}

/** Sends a webhook as a sender would, signed by the reference library. */
export function sendWebhook(server: TestServer, triggerId: string, sent: Sent): Promise<Reply> {
  const { id = `msg_${Math.random()}`, body = '{"n":1}', secret, ageSeconds = 0 } = sent;
  const at = new Date(Date.now() - ageSeconds * 1000);
  const signed =
    secret === undefined
      ? {}
      : {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
          'webhook-signature': new Webhook(secret).sign(id, at, body),
        };
  const headers = { ...signed, ...sent.headers };
  return server.ask('POST', `/api/v1/triggers/${triggerId}`, { token: null, text: body, headers });
}

export async function firings(server: TestServer, triggerId: string): Promise<JsonObject[]> {
  const { body } = await server.get(`/api/v1/triggers/${triggerId}/firings?limit=200`);
  return body.data as JsonObject[];
}

export async function executionsOf(server: TestServer, workflowId: string): Promise<JsonObject[]> {
  const { body } = await server.get(`/api/v1/executions?workflowId=${workflowId}&limit=200`);
  return body.data as JsonObject[];
}

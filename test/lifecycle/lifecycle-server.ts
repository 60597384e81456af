// The loan of the examples on a real server, and the few calls that the tests use.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import type { AskOptions, Reply, TestServer } from '../server/api-server.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples/lifecycle');
const example = (name: string) => JSON.parse(readFileSync(join(EXAMPLES, name), 'utf8')) as JsonObject;

export const loan = (): JsonObject => example('loan.json');
export const loanPolicies = (): JsonObject => example('loan-policies.json');

export interface LoanCalls {
  importLoan(change?: JsonObject, options?: AskOptions): Promise<Reply>;
  trigger(externalRef: string, event: string | number, more?: JsonObject, options?: AskOptions): Promise<Reply>;
  instance(externalRef: string): Promise<JsonObject>;
  timeline(externalRef: string): Promise<JsonObject[]>;
  /** Waits for the messages that are due to a consumer, and returns them. */
  pull(consumer: string): Promise<JsonObject[]>;
  ack(ackGuid: string, body: JsonObject): Promise<Reply>;
  /** Resolves when the instance is in the state. */
  until(externalRef: string, state: string): Promise<void>;
}

let requests = 0;

export function loanCalls(server: TestServer): LoanCalls {
  const base = '/api/v1/lifecycles/prod/loan';
  const of = (externalRef: string) => `${base}/instances/${encodeURIComponent(externalRef)}`;
  const calls: LoanCalls = {
    importLoan: (change = {}, options) => {
      const body = { definition: { ...loan(), ...change }, policies: loanPolicies() };
      return server.post('/api/v1/lifecycles', body, options);
    },
    trigger: (externalRef, event, more = {}, options) => {
      const body = { externalRef, event, requestId: `request-${++requests}`, ...more };
      return server.post(`${base}/trigger`, body, options);
    },
    instance: async (externalRef) => (await server.get(of(externalRef))).body,
    timeline: async (externalRef) => (await server.get(`${of(externalRef)}/timeline`)).body.data as JsonObject[],
    pull: async (consumer) => {
      const { status, body } = await server.get(`/api/v1/deliveries?consumer=${consumer}&wait=30s`);
      expect({ status, body }).toMatchObject({ status: 200 });
      return body.data as JsonObject[];
    },
    ack: (ackGuid, body) => server.post(`/api/v1/deliveries/${ackGuid}/ack`, body),
    until: async (externalRef, state) => {
      await expect.poll(async () => (await calls.instance(externalRef)).state).toBe(state);
    },
  };
  return calls;
}

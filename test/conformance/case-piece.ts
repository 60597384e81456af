// What the cases of the conformance suite are written with.

import { randomUUID } from 'node:crypto';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { callbackToken } from '../../src/execution/callback-token.ts';
import type { Executions } from '../../src/execution/executions.ts';
import type { GraphNode } from '../engine/workflow-definition.ts';
import { type Doing, TENANT } from './driver-pair.ts';

export interface NamedCase {
  readonly name: string;
  readonly definition: JsonObject;
  /** Published before it: its subworkflows. */
  readonly also?: readonly JsonObject[];
  /** Absent: the address of a web server, as `url`. */
  readonly trigger?: Json;
  readonly during?: (doing: Doing) => Promise<void>;
}

const LOOK_MS = 20;

/** For as long as the test has. Cases run side by side, so they cannot use the `expect` of one test. */
export async function until<Value>(ask: () => Promise<Value>, wanted: Value): Promise<void> {
  while ((await ask()) !== wanted) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

export const fail = (id: string, rest: JsonObject = {}, parameters: JsonObject = {}): GraphNode => ({
  id,
  actionType: 'core.fail',
  parameters: { message: `${id} fails`, ...parameters },
  ...rest,
});

export const flaky = (id: string, failTimes: number, rest: JsonObject = {}): GraphNode => ({
  id,
  actionType: 'core.sometimes-fails',
  parameters: { failTimes, id },
  ...rest,
});

export const edges = (...list: JsonObject[]): { edges: Json[] } => ({ edges: list });

export const status = async ({ pawl, executionId }: Doing): Promise<string> =>
  (await pawl.executions.get(TENANT, executionId)).status;

export const signal = (
  { pawl, executionId }: Doing,
  type: Parameters<Executions['signal']>[2]['type'],
  payload: JsonObject = {},
) => pawl.executions.signal(TENANT, executionId, { signalId: randomUUID(), type, payload });

export const callBack = async ({ pawl, executionId }: Doing, nodeId: string, payload: Json) => {
  const key = await pawl.store.secretGet({ name: 'callback' });
  return pawl.executions.callBack(callbackToken(key, { executionId, nodeId }), payload);
};

/** An event for everybody who waits for it. */
export const tell = ({ pawl }: Doing, id: string, type: string, data: JsonObject): Promise<number> =>
  pawl.executions.tellWaiting(TENANT, { id, type, data });

export const nodeStatus = async ({ pawl, executionId }: Doing, nodeId: string): Promise<string> => {
  const { state } = await pawl.executions.inspect(TENANT, executionId);
  return state.nodes[state.plan.nodes.findIndex(({ id }) => id === nodeId)]!.status;
};

export const childStatus = async ({ pawl, executionId }: Doing): Promise<string | undefined> =>
  (await pawl.store.executionChildren({ executionId }))[0]?.status;

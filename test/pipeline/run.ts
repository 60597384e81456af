// Starts runs and waits for their results, through the API alone.

import type { Json, JsonObject } from '../../src/core/json/json.ts';
import type { Api } from '../workflow/api.ts';

interface Task {
  status: string;
  status_code: number | null;
  duration_ms?: number;
  started_at?: string;
  finished_at?: string;
  attempt?: number;
  is_truncated?: boolean;
  error_message?: string;
  skip_reason?: string;
  wake_at?: string;
  response_headers?: Record<string, string>;
  response_body?: Json;
}

export interface Run {
  id: string;
  workflow_id: string;
  status: string;
  started_at: string;
  finished_at?: string;
  error_message?: string;
  tasks: Record<string, Task>;
}

export const create = (api: Api, name: string, tasks: JsonObject, rest: JsonObject = {}) =>
  api.post<{ data: JsonObject & { id: string } }>('/workflows', { name, tasks, ...rest });

export async function trigger(api: Api, name: string, body: Json = {}): Promise<string> {
  const { status, body: answer } = await api.post<{ data: { run_id: string } }>(`/workflows/${name}/trigger`, body);
  if (status !== 201) throw new Error(`${name} was not started: ${JSON.stringify(answer)}`);
  return answer.data.run_id;
}

export const getRun = async (api: Api, name: string, runId: string, query = ''): Promise<Run> =>
  (await api.get<{ data: Run }>(`/workflows/${name}/runs/${runId}${query}`)).body.data;

/** Asks until the condition holds. */
export async function runUntil(api: Api, name: string, runId: string, isSo: (run: Run) => boolean): Promise<Run> {
  for (;;) {
    const run = await getRun(api, name, runId);
    if (isSo(run)) return run;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function ended(api: Api, name: string, runId: string): Promise<Run> {
  await api.pawl.result(executionIdOf(runId));
  return getRun(api, name, runId);
}

/** Runs and executions have the same ids in different notations. */
export const executionIdOf = (runId: string): string =>
  runId.slice('run_'.length).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Creates a pipeline, runs it once and returns the ended run. */
export async function runOnce(api: Api, name: string, tasks: JsonObject, body: Json = {}): Promise<Run> {
  await create(api, name, tasks);
  return ended(api, name, await trigger(api, name, body));
}

export const statuses = ({ tasks }: Run): Record<string, string> =>
  Object.fromEntries(Object.entries(tasks).map(([name, { status }]) => [name, status]));

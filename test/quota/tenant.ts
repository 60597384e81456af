// A separate tenant for each test, with a quota, and the requests that the tenant makes.

import type { JsonObject } from '../../src/core/json/json.ts';
import type { QuotaJson, QuotaRequest } from '../../src/protocol/quota.ts';
import { type Reply, type TestServer, tokenFor } from '../server/api-server.ts';

export interface Tenant {
  readonly name: string;
  get(path: string): Promise<Reply>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  put(path: string, body: unknown): Promise<Reply>;
  /** Creates a pipeline with these tasks. */
  create(name: string, tasks: JsonObject, rest?: JsonObject): Promise<Reply>;
  trigger(name: string, headers?: Record<string, string>): Promise<Reply>;
  setQuota(request: QuotaRequest): Promise<QuotaJson>;
  quota(): Promise<QuotaJson>;
  /** Reads the quota until the condition holds. */
  quotaWhen(isSo: (quota: QuotaJson) => boolean): Promise<QuotaJson>;
  /** Reads a run until it has ended. */
  ended(name: string, run: Reply): Promise<JsonObject>;
}

let tenants = 0;

export async function tenantOf(server: TestServer): Promise<Tenant> {
  const name = `tenant-${++tenants}`;
  const token = await tokenFor({ tenant: name });
  const quotaPath = `/api/v1/admin/tenants/${name}/quota`;
  const get = (path: string) => server.get(path, { token });
  const post = (path: string, body?: unknown, headers = {}) => server.post(path, body, { token, headers });
  const quota = async () => (await get(quotaPath)).body as unknown as QuotaJson;
  return {
    name,
    get,
    post,
    put: (path, body) => server.ask('PUT', path, { token, body }),
    create: (id, tasks, rest = {}) => post('/api/v1/workflows', { name: id, tasks, ...rest }),
    trigger: (id, headers) => post(`/api/v1/workflows/${id}/trigger`, {}, headers),
    async setQuota(request) {
      const { status, body } = await server.ask('PUT', quotaPath, { token, body: request });
      if (status !== 200) throw new Error(`the quota was not set: ${JSON.stringify(body)}`);
      return body as unknown as QuotaJson;
    },
    quota,
    async quotaWhen(isSo) {
      for (;;) {
        const found = await quota();
        if (isSo(found)) return found;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async ended(id, run) {
      const { run_id: runId } = run.body.data as { run_id: string };
      for (;;) {
        const found = (await get(`/api/v1/workflows/${id}/runs/${runId}`)).body.data as JsonObject;
        if (found.status !== 'running') return found;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

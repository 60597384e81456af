// For operators: dead letters, runners, tenants and quotas, the audit log; and runs of execution plans at the engine boundary.

import type {
  AcceptedJson,
  AuditEntryJson,
  AuditVerificationJson,
  DeadLetterJson,
  Page,
  ReconcileJson,
  RunDebugJson,
  RunInspectionJson,
  RunnerJson,
  SignalJson,
  SignalRequest,
  StartRunJson,
  StartRunRequest,
  StepLogsJson,
  TenantJson,
} from '../protocol/answer.ts';
import type { auditQuery } from '../protocol/audit.ts';
import type { ConsumerJson } from '../protocol/delivery.ts';
import type { KeyJson, KeyRequest, NewKeyJson } from '../protocol/key.ts';
import type { EraseJson, EraseRequest } from '../protocol/operation.ts';
import type { QueryOf } from '../protocol/page.ts';
import type { QuotaJson, QuotaRequest } from '../protocol/quota.ts';
import { part, type Transport } from './transport.ts';
import type { PageQuery } from './workflows.ts';

export interface AuditQuery extends QueryOf<typeof auditQuery> {}

const KEYS = '/api/v1/admin/keys';
const LETTERS = '/api/v1/admin/dead-letters';

export class AdminApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** `tenants: 'all'` needs the role System. */
  deadLetters(query: PageQuery & { readonly tenants?: 'all' } = {}): Promise<Page<DeadLetterJson>> {
    return this.transport.get(LETTERS, { ...query });
  }

  requeueDeadLetter(id: string): Promise<{ executionId: string }> {
    return this.transport.ask('POST', `${LETTERS}/${part(id)}/requeue`);
  }

  /** Removes all of them. Returns how many there were. */
  purgeDeadLetters(): Promise<{ count: number }> {
    return this.transport.ask('DELETE', LETTERS);
  }

  async purgeDeadLetter(id: string): Promise<void> {
    await this.transport.ask('DELETE', `${LETTERS}/${part(id)}`);
  }

  runners(query: PageQuery = {}): Promise<Page<RunnerJson>> {
    return this.transport.get('/api/v1/admin/runners', { ...query });
  }

  /** The runner finishes its attempts and takes nothing more until its process restarts. */
  async drainRunner(runnerId: string): Promise<void> {
    await this.transport.ask('POST', `/api/v1/admin/runners/${part(runnerId)}/drain`, { repeatable: true });
  }

  consumers(query: PageQuery = {}): Promise<Page<ConsumerJson>> {
    return this.transport.get('/api/v1/admin/consumers', { ...query });
  }

  /** All tenants for the role System, otherwise your own. */
  tenants(query: PageQuery = {}): Promise<Page<TenantJson>> {
    return this.transport.get('/api/v1/admin/tenants', { ...query });
  }

  /** Who changed what, newest first. */
  audit(query: AuditQuery = {}): Promise<Page<AuditEntryJson>> {
    return this.transport.get('/api/v1/admin/audit', { ...query });
  }

  /** Whether a record was changed or removed. `head`: the head that an earlier answer returned. */
  verifyAudit(head?: string): Promise<AuditVerificationJson> {
    return this.transport.get('/api/v1/admin/audit/verify', head === undefined ? {} : { head });
  }

  keys(query: PageQuery = {}): Promise<Page<KeyJson>> {
    return this.transport.get(KEYS, { ...query });
  }

  /** Only this answer contains the key. */
  createKey(request: KeyRequest): Promise<NewKeyJson> {
    return this.transport.ask('POST', KEYS, { body: request });
  }

  async revokeKey(id: string): Promise<void> {
    await this.transport.ask('DELETE', `${KEYS}/${part(id)}`);
  }

  /** Removes a person's data, or all of a tenant's; counts only, unless `dryRun` is false. Needs the role System. */
  erase(tenantId: string, request: EraseRequest): Promise<EraseJson> {
    return this.transport.ask('POST', `/api/v1/admin/tenants/${part(tenantId)}/erase`, { body: request });
  }

  quota(tenantId: string): Promise<QuotaJson> {
    return this.transport.get(quotaOf(tenantId));
  }

  setQuota(tenantId: string, quota: QuotaRequest): Promise<QuotaJson> {
    return this.transport.ask('PUT', quotaOf(tenantId), { body: quota });
  }
}

const quotaOf = (tenantId: string): string => `/api/v1/admin/tenants/${part(tenantId)}/quota`;

export class PlansApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** With your own runId a start can be repeated: the same runId gives the same run. */
  start(request: StartRunRequest): Promise<StartRunJson> {
    const repeatable = request.context?.runId !== undefined;
    return this.transport.ask('POST', '/api/v1/engine/runs', { body: request, repeatable });
  }

  /** With `terminate` the engine also ends the run at once. */
  cancel(runId: string, request: { reason?: string; terminate?: boolean } = {}): Promise<AcceptedJson> {
    return this.transport.ask('POST', `/api/v1/engine/runs/${part(runId)}/cancel`, { body: request, repeatable: true });
  }

  signal(runId: string, signal: SignalRequest): Promise<SignalJson> {
    return this.transport.ask('POST', `/api/v1/engine/runs/${part(runId)}/signals`, { body: signal, repeatable: true });
  }

  /** Sends the events of the run to the event buses again: for a bus that has lost them. */
  reconcile(runId: string): Promise<ReconcileJson> {
    return this.transport.ask('POST', `/api/v1/engine/runs/${part(runId)}/reconcile`, { repeatable: true });
  }

  debug(runId: string): Promise<RunDebugJson> {
    return this.transport.get(`/api/v1/engine/runs/${part(runId)}/debug`);
  }

  stepLogs(runId: string, stepId: string): Promise<StepLogsJson> {
    return this.transport.get(`/api/v1/engine/runs/${part(runId)}/steps/${part(stepId)}/logs`);
  }

  /** A snapshot of everything about a run. */
  inspect(runId: string): Promise<RunInspectionJson> {
    return this.transport.ask('POST', `/api/v1/engine/runs/${part(runId)}/inspect`, { repeatable: true });
  }
}

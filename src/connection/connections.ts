// Connections as people manage them: create, rotate, remove, read, check, authorize. A secret is never shown again. Every change
// is audited, without secrets (S6).

import type { HttpClient } from '../action/http-client.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { requestInvalid } from '../core/error/request-invalid.ts';
import type { JsonObject } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import { type ConnectionKind, connectionRequest } from '../protocol/connection.ts';
import type { Box } from '../secret/box.ts';
import { type Actor, type AuditStore, SYSTEM } from '../store/audit-port.ts';
import type { ConnectionKey, ConnectionRow, ConnectionStore, NewConnection } from '../store/secret-port.ts';
import { givenSecrets, placeOf, secretFieldsOf, settingsOf, shownFieldsOf } from './connection.ts';
import { type ConnectorChecks, checkConnection } from './connection-check.ts';
import type { ConnectionCredentials } from './connection-credentials.ts';
import { NOT_AUTHORIZED } from './connection-tokens.ts';
import { leadsElsewhere } from './host.ts';

export interface ConnectionsDeps {
  readonly store: ConnectionStore & Pick<AuditStore, 'audited'>;
  readonly box: Box;
  readonly credentials: ConnectionCredentials;
  readonly http: HttpClient;
  readonly newId: () => string;
  /** The connectors of the catalog. */
  readonly connectors: ReadonlySet<string>;
  /** The connectors' own checks of a credential. */
  readonly checks: ConnectorChecks;
}

export type ConnectionUse = Awaited<ReturnType<ConnectionStore['connectionUses']>>[number];

const MAX_USES = 100;

export class Connections {
  private readonly deps: ConnectionsDeps;

  constructor(deps: ConnectionsDeps) {
    this.deps = deps;
  }

  async create(tenantId: string, request: JsonObject, by: Actor = SYSTEM): Promise<ConnectionRow> {
    const wanted = this.checked(request);
    const row = this.rowOf(tenantId, this.deps.newId(), wanted);
    const made = await this.record(row, by, 'create', detailsOf(row), (store) => store.connectionAdd(row));
    if (made === null) {
      throw new PawlError('CONNECTION_EXISTS', `a connection "${row.name}" exists already: change it with PUT`);
    }
    return made;
  }

  /** Fields that are left out stay as they are. A given secret replaces the previous one everywhere at once. */
  async change(key: ConnectionKey, change: JsonObject, by: Actor = SYSTEM): Promise<ConnectionRow> {
    const existing = await this.get(key);
    const fixed = (['name', 'principal'] as const).filter((field) => change[field] !== undefined);
    const moved = fixed.filter((field) => change[field] !== (field === 'name' ? key.name : key.principalId));
    if (moved.length > 0) throw requestInvalid(moved.map((field) => cannotChange(field)));
    const wanted = this.checked({ ...this.requestOf(existing, change), ...change });
    const row = this.rowOf(key.tenantId, existing.connectionId, wanted);
    const fields = Object.keys(change).filter((field) => field !== 'tenantId');
    const led = leadsElsewhere(existing, row);
    if (led.length > 0) this.needSecrets(existing, change, led);
    const dropTokens = led.length > 0 || fields.some((field) => !KEEPS_TOKENS.has(field));
    const problem = dropTokens ? row.problem : existing.problem;
    const changed = { ...row, problem, revision: existing.revision, dropTokens };
    const made = await this.record(row, by, 'change', { fields }, (store) => store.connectionChange(changed));
    if (made !== null) return made;
    throw new PawlError(
      'CONNECTION_CHANGED',
      `connection "${key.name}" was changed by somebody else just now: look at it again`,
    );
  }

  async remove(key: ConnectionKey, by: Actor = SYSTEM): Promise<void> {
    const removed = await this.record(key, by, 'remove', {}, (store) => store.connectionRemove(key));
    if (!removed) throw connectionNotFound(key.name);
  }

  async get(key: ConnectionKey): Promise<ConnectionRow> {
    const row = await this.deps.store.connectionFind(key);
    if (row === null) throw connectionNotFound(key.name);
    return row;
  }

  uses({ tenantId, name }: ConnectionKey): Promise<ConnectionUse[]> {
    return this.deps.store.connectionUses({ tenantId, name, limit: MAX_USES });
  }

  list(params: Parameters<ConnectionStore['connectionList']>[0]): Promise<ConnectionRow[]> {
    return this.deps.store.connectionList(params);
  }

  /** Whether it still works, as far as that can be known. */
  async check(key: ConnectionKey): Promise<{ readonly ok: boolean; readonly message?: string }> {
    const row = await this.get(key);
    const { credentials, http, checks, store } = this.deps;
    const context = { environmentId: 'default', principalId: row.principalId === '' ? null : row.principalId };
    const outcome = await checkConnection(row, () => credentials.credentialFor(row, context), { http, checks });
    const { ok, message = null } = outcome;
    await store.connectionChecked({ connectionId: row.connectionId, ok, message });
    return outcome;
  }

  private checked(request: JsonObject): JsonObject {
    const parsed = connectionRequest.safeParse(request);
    if (!parsed.success) throw requestInvalid(parsed.error.issues.map((issue) => problemAt(issue.path, issue.message)));
    const { connector, kind, isDefault, principal } = parsed.data;
    const problems: Problem[] = [];
    if (!this.deps.connectors.has(connector)) {
      const known = [...this.deps.connectors].join(', ');
      problems.push({
        ...problemAt(['connector'], `there is no connector "${connector}"`),
        suggestion: `there are ${known}`,
      });
    }
    if (kind === 'aws-sigv4' && connector !== 'http') {
      problems.push(problemAt(['kind'], 'aws-sigv4 signs requests of the connector http, and of no other'));
    }
    if (isDefault === true && connector === 'http') {
      problems.push(problemAt(['isDefault'], 'http has no default: a credential is sent only where it is named'));
    }
    if (isDefault === true && principal !== undefined) {
      problems.push(
        problemAt(['isDefault'], "the tenant's connection is the default, and each person's own comes before it"),
      );
    }
    if (problems.length > 0) throw requestInvalid(problems);
    return parsed.data as JsonObject;
  }

  /** Changing the address requires the secret again, so that an editor cannot redirect a secret to their own host. */
  private needSecrets(existing: ConnectionRow, change: JsonObject, led: readonly string[]): void {
    const kept = Object.keys(givenSecrets(this.deps.box, existing));
    const missing = kept.filter((field) => change[field] === undefined || change[field] === null);
    if (missing.length === 0 || (change.kind ?? existing.kind) !== existing.kind) return;
    const reason = `${led.join(' and ')} would lead the kept secret to another address`;
    const suggestion = `give \`${missing.join('` and `')}\` again in the same request`;
    throw requestInvalid(
      missing.map((field) => ({
        code: 'SECRET_NEEDED',
        path: `/${field}`,
        message: `is needed: ${reason}`,
        suggestion,
      })),
    );
  }

  private rowOf(tenantId: string, connectionId: string, wanted: JsonObject): NewConnection {
    const kind = wanted.kind as ConnectionKind;
    const pick = (fields: readonly string[]) =>
      Object.fromEntries(fields.filter((field) => wanted[field] !== undefined).map((field) => [field, wanted[field]]));
    const secrets = pick(secretFieldsOf(kind));
    return {
      connectionId,
      tenantId,
      name: wanted.name as string,
      principalId: (wanted.principal ?? '') as string,
      connector: wanted.connector as string,
      kind,
      settings: JSON.stringify(pick(shownFieldsOf(kind))),
      allowedHosts: (wanted.allowedHosts ?? []) as string[],
      isDefault: wanted.isDefault === true,
      sealed: this.deps.box.seal(JSON.stringify(secrets), placeOf(connectionId, 'secrets')),
      problem: kind === 'oauth2-code' && secrets.refreshToken === undefined ? NOT_AUTHORIZED : null,
    };
  }

  /** The request that would create it today. A change of kind keeps nothing of the old kind. */
  private requestOf(row: ConnectionRow, change: JsonObject): JsonObject {
    const { name, connector, kind, allowedHosts, isDefault, principalId } = row;
    const common = {
      name,
      connector,
      kind,
      allowedHosts,
      isDefault,
      ...(principalId === '' ? {} : { principal: principalId }),
    };
    if (change.kind !== undefined && change.kind !== kind) return common;
    return { ...common, ...settingsOf(row), ...givenSecrets(this.deps.box, row) } as JsonObject;
  }

  private async record<Result>(
    { tenantId, name, principalId }: ConnectionKey,
    by: Actor,
    action: string,
    details: JsonObject,
    work: (store: ConnectionStore) => Promise<Result>,
  ): Promise<Result> {
    const target = `connection/${name}${principalId === '' ? '' : `/${principalId}`}`;
    const deed = (result: Result) =>
      result === null || result === false ? null : { action: `connection.${action}`, target, details };
    const result = await this.deps.store.audited({ tenantId, by, work, deed });
    this.deps.credentials.forget(tenantId);
    return result;
  }
}

/** Changing these keeps the tokens that a person granted. */
const KEEPS_TOKENS = new Set(['allowedHosts', 'isDefault', 'checkUrl', 'connector', 'kind']);

const detailsOf = ({ connector, kind, isDefault }: NewConnection): JsonObject => ({ connector, kind, isDefault });

const problemAt = (path: readonly PropertyKey[], message: string): Problem => ({
  code: 'CONNECTION_INVALID',
  path: path.map((part) => `/${String(part)}`).join(''),
  message,
});

const cannotChange = (field: string): Problem => ({
  ...problemAt([field], 'cannot change'),
  suggestion: 'create another connection',
});

export const connectionNotFound = (name: string): PawlError =>
  new PawlError('CONNECTION_NOT_FOUND', `no connection "${name}"`);

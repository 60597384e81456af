// Consumers as people manage them: register, change, pause, resume, rotate the secret, remove. All problems of a request are
// reported at once. A secret is shown once, when it is created here (S6). Registering again changes the given fields, so a
// program may register its consumers at every start. Changes are audited.

import { PawlError } from '../core/error/pawl-error.ts';
import { requestInvalid } from '../core/error/request-invalid.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { ConsumerKind } from '../protocol/consumer-kind.ts';
import { NEW_SECRET_BYTES, SECRET_PREFIX, secretProblem } from '../protocol/webhook-secret.ts';
import { type Actor, type AuditStore, SYSTEM } from '../store/audit-port.ts';
import type { ConsumerChange, ConsumerRow, DeliveryStore } from '../store/delivery-port.ts';
import type { Store } from '../store/port.ts';
import type { ConnectionStore } from '../store/secret-port.ts';
import { type ConsumerRequest, type ConsumerSettings, type ConsumerView, consumerView, isBuiltIn } from './consumer.ts';
import { consumerProblems } from './consumer-request.ts';
import { removedUnanswered } from './delivery-notice.ts';
import type { Notices } from './notices.ts';

export interface ConsumersDeps {
  readonly store: Pick<DeliveryStore, 'consumerGet' | 'consumerList' | 'consumerSweep'> &
    Pick<ConnectionStore, 'connectionsNamed'> &
    Pick<AuditStore, 'audited'>;
  /** Called after every change, before it is answered, so that caches of consumers are refreshed. */
  readonly changed: () => Promise<void>;
  readonly notices: Pick<Notices, 'raise'>;
  /** Some hooks have failed, and their outcome may have an event to trigger. */
  readonly reactionsWaiting: () => void;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly allowsBus: (server: string) => boolean;
  /** Default for consumers that do not set it. */
  readonly concurrency: number;
}

/** A consumer and its new secret, which is shown only once; null when none was created. */
export interface ConsumerAnswer {
  readonly consumer: ConsumerView;
  readonly secret: string | null;
}

export class Consumers {
  private readonly deps: ConsumersDeps;

  constructor(deps: ConsumersDeps) {
    this.deps = deps;
  }

  async list(tenantId: string): Promise<ConsumerView[]> {
    const rows = await this.deps.store.consumerList({ tenantId });
    return rows.filter(({ kind }) => !isBuiltIn(kind)).map(consumerView);
  }

  async get(tenantId: string, code: string): Promise<ConsumerView> {
    return consumerView(await this.row(tenantId, code));
  }

  async register(
    tenantId: string,
    request: ConsumerRequest,
    by: Actor = SYSTEM,
  ): Promise<ConsumerAnswer & { readonly created: boolean }> {
    const { code } = request;
    const existing = typeof code === 'string' ? await this.deps.store.consumerGet({ tenantId, code }) : null;
    const answer = await this.put(tenantId, existing, request, by);
    return { ...answer, created: existing === null };
  }

  /** Fields that the request leaves out stay as they are. A secret in it is added as in a rotation. */
  async change(
    tenantId: string,
    code: string,
    request: Omit<ConsumerRequest, 'code'>,
    by: Actor = SYSTEM,
  ): Promise<ConsumerAnswer> {
    const existing = await this.row(tenantId, code);
    return this.put(tenantId, existing, { kind: existing.kind, ...request, code }, by);
  }

  /** Messages to a paused consumer wait. */
  pause(tenantId: string, code: string, by: Actor = SYSTEM): Promise<ConsumerView> {
    return this.setPaused(tenantId, code, true, by);
  }

  resume(tenantId: string, code: string, by: Actor = SYSTEM): Promise<ConsumerView> {
    return this.setPaused(tenantId, code, false, by);
  }

  /** Removes its open deliveries too. Hooks that wait for its answer have failed. */
  async remove(tenantId: string, code: string, by: Actor = SYSTEM): Promise<void> {
    const { kind, consumerId } = await this.row(tenantId, code);
    const { store, changed, notices, reactionsWaiting } = this.deps;
    await store.audited({
      tenantId,
      by,
      work: (joined: Store) => joined.consumerRemove({ tenantId, code }),
      deed: (removed) => (removed ? deedOf('delete', code, kind) : null),
    });
    await changed();
    const swept = (await store.consumerSweep()).find((one) => one.consumerId === consumerId);
    if (swept === undefined || swept.ackGuids.length === 0) return;
    notices.raise(tenantId, [removedUnanswered(swept.ackGuids, { code })]);
    reactionsWaiting();
  }

  /** The new secret signs at once. The previous one also signs until the next rotation, unless it is dropped. */
  async rotateSecret(
    tenantId: string,
    code: string,
    { secret: given, keepPrevious = true }: { secret?: string | undefined; keepPrevious?: boolean | undefined } = {},
    by: Actor = SYSTEM,
  ): Promise<ConsumerAnswer> {
    const existing = await this.row(tenantId, code);
    const { kind } = existing;
    if (kind !== 'webhook')
      throw new PawlError('WRONG_KIND', `consumer "${code}" is of kind ${kind}: only a webhook has a secret`);
    const wrong = given === undefined ? undefined : secretProblem(given);
    if (wrong) throw requestInvalid([{ code: 'CONSUMER_INVALID', path: '/secret', message: wrong }]);
    const secret = given ?? this.newSecret();
    const change = { tenantId, code, kind, newSecret: secret, keepPrevious };
    const row = await this.write(change, existing, 'rotate-secret', by);
    return { consumer: consumerView(row), secret: given === undefined ? secret : null };
  }

  private async put(
    tenantId: string,
    existing: ConsumerRow | null,
    request: ConsumerRequest,
    by: Actor,
  ): Promise<ConsumerAnswer> {
    const { allowsBus } = this.deps;
    const found = consumerProblems(request, { existingKind: existing?.kind ?? null, allowsBus });
    const problems = found.length > 0 ? found : await this.connectionProblems(tenantId, request);
    if (problems.length > 0) throw requestInvalid(problems);
    // From here on every field has its type: consumerProblems has checked each.
    const kind = request.kind as ConsumerKind;
    const hasSecret = existing?.kind === kind && existing.secrets.length > 0;
    const given = request.secret as string | undefined;
    const made = kind === 'webhook' && given === undefined && !hasSecret ? this.newSecret() : null;
    const change: ConsumerChange = {
      tenantId,
      code: request.code as string,
      kind,
      newSecret: given ?? made ?? undefined,
      ...writtenFields(request, existing, kind),
      ...(existing === null && request.concurrency === undefined ? { concurrency: this.deps.concurrency } : {}),
    };
    const row = await this.write(change, existing, existing === null ? 'register' : 'update', by);
    return { consumer: consumerView(row), secret: made };
  }

  private async connectionProblems(tenantId: string, { connection }: ConsumerRequest): Promise<Problem[]> {
    if (typeof connection !== 'string') return [];
    const [known] = await this.deps.store.connectionsNamed({ tenantId, names: [connection] });
    if (known?.connector === 'http') return [];
    const message =
      known === undefined
        ? `there is no connection "${connection}": create it with POST /api/v1/connections`
        : `connection "${connection}" is for the connector ${known.connector}; a webhook needs one for http`;
    return [{ code: 'CONSUMER_INVALID', path: '/connection', message }];
  }

  private async setPaused(tenantId: string, code: string, isPaused: boolean, by: Actor): Promise<ConsumerView> {
    const existing = await this.row(tenantId, code);
    const change = { tenantId, code, kind: existing.kind, isPaused };
    return consumerView(await this.write(change, existing, isPaused ? 'pause' : 'resume', by));
  }

  /** An update that changes nothing, such as a registration at every start, leaves no audit record. */
  private async write(
    change: ConsumerChange,
    before: ConsumerRow | null,
    action: string,
    by: Actor,
  ): Promise<ConsumerRow> {
    const { tenantId, code, kind } = change;
    const row = await this.deps.store.audited({
      tenantId,
      by,
      work: (joined: Store) => joined.consumerPut(change),
      deed: (after) => (isSame(before, after) ? null : deedOf(action, code, kind)),
    });
    await this.deps.changed();
    return row;
  }

  private async row(tenantId: string, code: string): Promise<ConsumerRow> {
    const row = await this.deps.store.consumerGet({ tenantId, code });
    if (row === null || isBuiltIn(row.kind)) throw consumerNotFound(code);
    return row;
  }

  private newSecret(): string {
    const bytes = this.deps.randomBytes(NEW_SECRET_BYTES);
    return `${SECRET_PREFIX}${Buffer.from(bytes).toString('base64')}`;
  }
}

export const consumerNotFound = (code: string): PawlError =>
  new PawlError('CONSUMER_NOT_FOUND', `there is no consumer "${code}"; register it with POST /api/v1/consumers`);

/** The record contains no addresses or secrets. */
const deedOf = (action: string, code: string, kind: ConsumerKind) => ({
  action: `consumer.${action}`,
  target: `consumer/${code}`,
  details: { kind },
});

function isSame(before: ConsumerRow | null, after: ConsumerRow): boolean {
  return before !== null && JSON.stringify({ ...before, updatedAt: 0 }) === JSON.stringify({ ...after, updatedAt: 0 });
}

function writtenFields(request: ConsumerRequest, existing: ConsumerRow | null, kind: ConsumerKind) {
  const { url, subscriptions, ordering, concurrency, isPaused } = request;
  // A consumer that changes its kind loses its address.
  const left = existing !== null && existing.kind !== kind ? null : undefined;
  return {
    url: url === undefined ? left : (url as string | null),
    subscriptions: subscriptions === undefined ? undefined : JSON.stringify(subscriptions),
    ordering: ordering as ConsumerRow['ordering'] | undefined,
    concurrency: concurrency as number | undefined,
    options: writtenOptions(request, existing, kind),
    isPaused: isPaused as boolean | undefined,
  };
}

/** The connection is stored with the options and changed separately. A change of kind drops it. */
function writtenOptions({ options, connection }: ConsumerRequest, existing: ConsumerRow | null, kind: ConsumerKind) {
  if (options === undefined && connection === undefined && (existing === null || existing.kind === kind))
    return undefined;
  const { connection: before, ...kept } = JSON.parse(existing?.options ?? '{}') as ConsumerSettings;
  const named =
    connection === undefined ? (existing?.kind === kind ? before : undefined) : (connection as string | null);
  return JSON.stringify({
    ...((options as object | undefined) ?? kept),
    ...(named == null ? {} : { connection: named }),
  });
}

// Consumers as people manage them: register, change, pause, resume, rotate the secret, remove. Everything that is wrong with a
// request is said at once, and a secret is shown once, when it was made here (S6). Registering again changes what is given, so
// that a program may register its consumers whenever it starts.

import type { Problem } from '../core/definition/problem.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { NEW_SECRET_BYTES, SECRET_PREFIX, secretProblem } from '../protocol/webhook-secret.ts';
import type { ConsumerChange, ConsumerKind, ConsumerRow, DeliveryStore } from '../store/delivery-port.ts';
import { type ConsumerRequest, type ConsumerView, consumerView, isBuiltIn } from './consumer.ts';
import { consumerProblems } from './consumer-request.ts';

export interface ConsumersDeps {
  readonly store: Pick<DeliveryStore, 'consumerPut' | 'consumerGet' | 'consumerList' | 'consumerRemove'>;
  /** Told after every change, before it is answered: whoever keeps consumers in memory reads them again. */
  readonly changed: () => Promise<void>;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly allowsBus: (server: string) => boolean;
  /** Of consumers that do not say. */
  readonly concurrency: number;
}

/** A consumer, and a secret that nobody will see again: null when none was made. */
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

  async register(tenantId: string, request: ConsumerRequest): Promise<ConsumerAnswer & { readonly created: boolean }> {
    const { code } = request;
    const existing = typeof code === 'string' ? await this.deps.store.consumerGet({ tenantId, code }) : null;
    const answer = await this.put(tenantId, existing, request);
    return { ...answer, created: existing === null };
  }

  /** What the request does not say stays. A secret in it is added as in a rotation. */
  async change(tenantId: string, code: string, request: Omit<ConsumerRequest, 'code'>): Promise<ConsumerAnswer> {
    const existing = await this.row(tenantId, code);
    return this.put(tenantId, existing, { kind: existing.kind, ...request, code });
  }

  /** What it is sent meanwhile waits. */
  pause(tenantId: string, code: string): Promise<ConsumerView> {
    return this.setPaused(tenantId, code, true);
  }

  resume(tenantId: string, code: string): Promise<ConsumerView> {
    return this.setPaused(tenantId, code, false);
  }

  /** Its open deliveries go with it. */
  async remove(tenantId: string, code: string): Promise<void> {
    await this.row(tenantId, code);
    await this.deps.store.consumerRemove({ tenantId, code });
    await this.deps.changed();
  }

  /** The new secret signs at once; the one before it does too until the next rotation, unless it is not kept. */
  async rotateSecret(
    tenantId: string,
    code: string,
    { secret: given, keepPrevious = true }: { secret?: string | undefined; keepPrevious?: boolean | undefined } = {},
  ): Promise<ConsumerAnswer> {
    const { kind, secrets } = await this.row(tenantId, code);
    const wrong = kind === 'webhook' ? given && secretProblem(given) : 'only a webhook has a secret to rotate';
    if (wrong) throw invalid([{ code: 'CONSUMER_INVALID', path: '/secret', message: wrong }]);
    const secret = given ?? this.newSecret();
    const change = { kind, secrets: keepPrevious ? withNewest(secret, secrets) : [secret] };
    const row = await this.write({ tenantId, code, ...change });
    return { consumer: consumerView(row), secret: given === undefined ? secret : null };
  }

  private async put(tenantId: string, existing: ConsumerRow | null, request: ConsumerRequest): Promise<ConsumerAnswer> {
    const { allowsBus } = this.deps;
    const problems = consumerProblems(request, { existingKind: existing?.kind ?? null, allowsBus });
    if (problems.length > 0) throw invalid(problems);
    // From here on every field is what its type says: consumerProblems has looked at each.
    const kind = request.kind as ConsumerKind;
    const kept = existing?.kind === kind ? existing.secrets : [];
    const given = request.secret as string | undefined;
    const made = kind === 'webhook' && given === undefined && kept.length === 0 ? this.newSecret() : null;
    const newest = given ?? made;
    const row = await this.write({
      tenantId,
      code: request.code as string,
      kind,
      secrets: newest === null ? kept : withNewest(newest, kept),
      ...writtenFields(request, existing, kind),
      ...(existing === null && request.concurrency === undefined ? { concurrency: this.deps.concurrency } : {}),
    });
    return { consumer: consumerView(row), secret: made };
  }

  private async setPaused(tenantId: string, code: string, isPaused: boolean): Promise<ConsumerView> {
    const { kind } = await this.row(tenantId, code);
    return consumerView(await this.write({ tenantId, code, kind, isPaused }));
  }

  private async write(change: ConsumerChange): Promise<ConsumerRow> {
    const row = await this.deps.store.consumerPut(change);
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

function writtenFields(request: ConsumerRequest, existing: ConsumerRow | null, kind: ConsumerKind) {
  const { url, subscriptions, ordering, concurrency, options, isPaused } = request;
  // A consumer that becomes another kind leaves its address behind.
  const left = existing !== null && existing.kind !== kind ? null : undefined;
  return {
    url: url === undefined ? left : (url as string | null),
    subscriptions: subscriptions === undefined ? undefined : JSON.stringify(subscriptions),
    ordering: ordering as ConsumerRow['ordering'] | undefined,
    concurrency: concurrency as number | undefined,
    options: options === undefined ? undefined : JSON.stringify(options),
    isPaused: isPaused as boolean | undefined,
  };
}

/** Newest first, at most two: what signs during a rotation. */
function withNewest(secret: string, before: readonly string[]): string[] {
  return [secret, ...before.filter((other) => other !== secret)].slice(0, 2);
}

function invalid(problems: readonly Problem[]): PawlError {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new PawlError('REQUEST_INVALID', `${first!.path} ${first!.message}${more}`, problems);
}

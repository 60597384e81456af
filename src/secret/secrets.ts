// Resolves references to secrets for attempts. Values are cached in this process only, by tenant, environment, key and version.
// When a provider is away, the attempts that need it fail retryably and others go on. Concurrent requests for one secret share
// one call.

import { RetryableError, TerminalError } from '../core/error/error.ts';
import type { SecretRef } from '../core/plan/plan.ts';
import { isSafeKey, type SecretContext, type SecretProvider } from './secret.ts';

export interface SecretsOptions {
  /** For a named version: it never changes, but access to it may end. */
  readonly versionTtlMs: number;
  /** For the latest version: how long a rotation goes unnoticed. */
  readonly latestTtlMs: number;
  readonly timeoutMs: number;
}

export const DEFAULT_SECRETS_OPTIONS: SecretsOptions = {
  versionTtlMs: 600_000,
  latestTtlMs: 120_000,
  timeoutMs: 5_000,
};

export interface ProviderHealth {
  readonly provider: string;
  readonly reachable: boolean;
  readonly latencyMs?: number;
  readonly detail?: string;
}

interface Kept {
  readonly value: string;
  readonly until: number;
}

const MAX_KEPT = 10_000;

export class Secrets {
  private readonly providers: ReadonlyMap<string, SecretProvider>;
  private readonly options: SecretsOptions;
  private readonly now: () => number;
  private readonly kept = new Map<string, Kept>();
  private readonly asked = new Map<string, Promise<string>>();

  constructor(
    providers: readonly SecretProvider[],
    options: SecretsOptions = DEFAULT_SECRETS_OPTIONS,
    now: () => number = Date.now,
  ) {
    this.providers = new Map(providers.map((provider) => [provider.name, provider]));
    this.options = options;
    this.now = now;
  }

  get providerNames(): readonly string[] {
    return [...this.providers.keys()];
  }

  /** All values, by key. */
  async resolve(refs: readonly SecretRef[], context: SecretContext): Promise<Record<string, string>> {
    const values = await Promise.all(refs.map((ref) => this.get(ref, context)));
    return Object.fromEntries(refs.map(({ key }, index) => [key, values[index]!]));
  }

  /** Without a promise when the value is cached. */
  get(ref: SecretRef, context: SecretContext): string | Promise<string> {
    const provider = this.providers.get(ref.provider === 'env' ? 'environment' : ref.provider);
    if (provider === undefined) throw unknownProvider(ref, this.providerNames);
    const id = idOf(ref, context, provider.perPrincipal === true);
    const kept = this.kept.get(id);
    if (kept !== undefined && kept.until > this.now()) return kept.value;
    const asked = this.asked.get(id) ?? this.ask(provider, ref, context, id);
    this.asked.set(id, asked);
    return asked;
  }

  /** Drops the cached secrets of a tenant after a change. */
  forget(tenantId: string): void {
    for (const id of this.kept.keys()) if (id.startsWith(`${tenantId}\0`)) this.kept.delete(id);
  }

  async health(): Promise<ProviderHealth[]> {
    const remote = [...this.providers.values()].filter(({ check }) => check !== undefined);
    return Promise.all(remote.map((provider) => this.healthOf(provider)));
  }

  async close(): Promise<void> {
    this.kept.clear();
    await Promise.all([...this.providers.values()].map((provider) => provider.close?.()));
  }

  private async healthOf(provider: SecretProvider): Promise<ProviderHealth> {
    const startedAt = this.now();
    try {
      await inTime(this.options.timeoutMs, provider.check!(AbortSignal.timeout(this.options.timeoutMs)));
      return { provider: provider.name, reachable: true, latencyMs: this.now() - startedAt };
    } catch (error) {
      return { provider: provider.name, reachable: false, detail: (error as Error).message.slice(0, 300) };
    }
  }

  private async ask(provider: SecretProvider, ref: SecretRef, context: SecretContext, id: string): Promise<string> {
    try {
      if (!isSafeKey(ref.key)) throw notFound(ref, 'its key is not one');
      const value = await inTime(this.options.timeoutMs, Promise.resolve(provider.get(ref, context)));
      if (value === undefined) throw notFound(ref, `there is none for the tenant "${context.tenantId}"`);
      if (value === '') throw notFound(ref, 'it is empty');
      this.keep(id, value, ref.version === undefined ? this.options.latestTtlMs : this.options.versionTtlMs);
      return value;
    } catch (error) {
      if (error instanceof TerminalError || error instanceof RetryableError) throw error;
      const message = `the secret ${nameOf(ref)} cannot be had: ${(error as Error).message}`;
      throw new RetryableError('SECRETS_UNAVAILABLE', message.slice(0, 500));
    } finally {
      this.asked.delete(id);
    }
  }

  private keep(id: string, value: string, ttlMs: number): void {
    if (this.kept.size >= MAX_KEPT) this.kept.delete(this.kept.keys().next().value!);
    this.kept.set(id, { value, until: this.now() + ttlMs });
  }
}

const idOf = ({ provider, key, version = '' }: SecretRef, context: SecretContext, perPrincipal: boolean): string =>
  `${context.tenantId}\0${context.environmentId}\0${provider}\0${key}\0${version}\0${perPrincipal ? context.principalId : ''}`;

const nameOf = ({ provider, key, version }: SecretRef): string =>
  `"${provider}:${key}${version === undefined ? '' : `@${version}`}"`;

const notFound = (ref: SecretRef, why: string): TerminalError =>
  new TerminalError('SECRET_NOT_FOUND', `the secret ${nameOf(ref)} does not exist: ${why}`);

function unknownProvider(ref: SecretRef, known: readonly string[]): TerminalError {
  const message = `the secret ${nameOf(ref)} names no provider of this installation: there are ${known.join(', ')}`;
  return new TerminalError('SECRET_NOT_FOUND', message);
}

async function inTime<Value>(timeoutMs: number, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

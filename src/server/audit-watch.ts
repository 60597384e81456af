// Records events that change nothing: refused requests of known callers, and reads of sensitive data. Nobody waits for the
// record. The first of a kind is written at once; those within the next minute are counted and reported with the next one, so
// that a flood of refused requests fills neither the log nor the memory (I21).

import type { Actor, AuditStore, Deed } from '../store/audit-port.ts';

export interface AuditWatchDeps {
  readonly store: Pick<AuditStore, 'audited'>;
  readonly now: () => number;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}

export interface Witnessed {
  readonly tenantId: string;
  readonly by: Actor;
  /** `access.denied` or `access.read`. */
  readonly action: 'access.denied' | 'access.read';
  /** The declared route, such as `GET /api/v1/secrets`: nothing from the request itself is kept. */
  readonly route: string;
  readonly reason?: string;
}

const QUIET_MS = 60_000;
/** For one tenant within a minute, of any kind. */
const MOST_RECORDS = 100;
const MOST_TENANTS = 10_000;

interface Minute {
  readonly began: number;
  readonly seen: Map<string, number>;
}

export class AuditWatch {
  private readonly deps: AuditWatchDeps;
  private readonly minutes = new Map<string, Minute>();

  constructor(deps: AuditWatchDeps) {
    this.deps = deps;
  }

  /** Resolves when it is written or unnecessary; never rejects. */
  async witness({ tenantId, by, action, route, reason }: Witnessed): Promise<void> {
    const { seen, earlier } = this.minuteOf(tenantId);
    const kind = `${action}\n${by.name}\n${route}`;
    const times = seen.get(kind);
    if (times !== undefined || seen.size >= MOST_RECORDS) {
      if (times !== undefined) seen.set(kind, times + 1);
      return;
    }
    seen.set(kind, 1);
    const repeated = (earlier?.get(kind) ?? 1) - 1;
    const details = {
      ...(reason === undefined ? {} : { reason }),
      ...(repeated > 0 ? { repeatedBefore: repeated } : {}),
    };
    const deed: Deed = { action, target: route, ...(Object.keys(details).length === 0 ? {} : { details }) };
    try {
      await this.deps.store.audited({ tenantId, by, work: async () => {}, deed: () => deed });
    } catch (error) {
      this.deps.warn('a record could not be added to the audit log', { error: (error as Error).message });
    }
  }

  private minuteOf(tenantId: string): { seen: Map<string, number>; earlier: Map<string, number> | undefined } {
    const now = this.deps.now();
    const known = this.minutes.get(tenantId);
    if (known !== undefined && now - known.began < QUIET_MS) return { seen: known.seen, earlier: undefined };
    const seen = new Map<string, number>();
    this.minutes.delete(tenantId);
    if (this.minutes.size >= MOST_TENANTS) this.minutes.delete(this.minutes.keys().next().value!);
    this.minutes.set(tenantId, { began: now, seen });
    return { seen, earlier: known?.seen };
  }
}

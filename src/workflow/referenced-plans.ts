// Caches plans by reference, so that starting the same plan again reads nothing. A reference contains the sha256, so a cached
// plan cannot be out of date. An entry goes after its time, when its reference expires, or when room is needed (least recently
// used first). Tenants share nothing.

import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../core/json/json.ts';
import type { PlanRef } from '../protocol/engine-run.ts';
import { checkSize, type PlanSourceOptions, type ReadPlan, readPlan, refuse } from './plan-source.ts';

export interface ReferencedPlansOptions extends PlanSourceOptions {
  /** 0: nothing is cached. */
  readonly keptMs: number;
}

const ROOM_BYTES = 64 * 1024 * 1024;

interface Kept extends ReadPlan {
  readonly untilMs: number;
}

export class ReferencedPlans {
  private readonly options: ReferencedPlansOptions;
  private readonly kept = new Map<string, Kept>();
  private keptBytes = 0;

  constructor(options: ReferencedPlansOptions) {
    this.options = options;
  }

  async get(tenantId: string, ref: PlanRef, now: Date): Promise<JsonObject> {
    const expiresMs = ref.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(ref.expiresAt);
    if (expiresMs <= now.getTime()) refuse('the reference has expired');
    const key = keyOf(tenantId, ref);
    const known = this.take(key, now.getTime());
    const { plan, sizeBytes, heldBytes } = known ?? (await readPlan(this.options, tenantId, ref));
    if (known !== undefined) checkSize(ref, sizeBytes);
    checkNames(plan, ref);
    this.keep(key, {
      plan,
      sizeBytes,
      heldBytes,
      untilMs: known?.untilMs ?? Math.min(now.getTime() + this.options.keptMs, expiresMs),
    });
    return plan;
  }

  private take(key: string, nowMs: number): Kept | undefined {
    const found = this.kept.get(key);
    if (found === undefined) return undefined;
    this.kept.delete(key);
    this.keptBytes -= found.heldBytes;
    return found.untilMs > nowMs ? found : undefined;
  }

  private keep(key: string, entry: Kept): void {
    if (this.options.keptMs === 0 || this.kept.has(key)) return;
    this.kept.set(key, entry);
    this.keptBytes += entry.heldBytes;
    for (const [oldest, { heldBytes }] of this.kept) {
      if (this.keptBytes <= ROOM_BYTES) return;
      this.kept.delete(oldest);
      this.keptBytes -= heldBytes;
    }
  }
}

/** The compression is part of the key: a wrong hint stays wrong, whether or not the plan was read before. */
function keyOf(tenantId: string, { uri, sha256, compression = 'none' }: PlanRef): string {
  const place = URL.canParse(uri) ? new URL(uri).href : uri;
  return createHash('sha256').update(`${tenantId}\n${place}\n${sha256}\n${compression}`).digest('hex');
}

function checkNames(plan: JsonObject, ref: PlanRef): void {
  const metadata = isJsonObject(plan.metadata) ? plan.metadata : {};
  for (const name of ['planId', 'planVersion', 'schemaVersion'] as const) {
    const actual = metadata[name];
    if (actual === ref[name]) continue;
    const said = typeof actual === 'string' ? `"${actual}"` : 'none';
    refuse(`the plan has another ${name}: ${said}, and the reference says "${ref[name]}"`);
  }
}

// Instances as they were last seen by this process. May be old: every write compares the revision, and no refusal is given
// without asking the database. Holds the most recently used, so a million instances cost no more memory than the limit.

import type { InstanceKey, InstanceRow } from '../../store/lifecycle-port.ts';

export function keyText({ tenantId, env, definition, externalRef }: InstanceKey): string {
  // The first three hold no control characters (S9), so no two keys have the same text.
  return `${tenantId}\n${env}\n${definition}\n${externalRef}`;
}

export class InstanceCache {
  private readonly limit: number;
  private readonly rows = new Map<string, InstanceRow>();

  constructor(limit: number) {
    this.limit = limit;
  }

  get(key: string): InstanceRow | null {
    const row = this.rows.get(key);
    if (row === undefined) return null;
    this.rows.delete(key);
    this.rows.set(key, row);
    return row;
  }

  set(key: string, row: InstanceRow): void {
    this.rows.delete(key);
    this.rows.set(key, row);
    if (this.rows.size <= this.limit) return;
    const oldest = this.rows.keys().next();
    if (oldest.done !== true) this.rows.delete(oldest.value);
  }

  forget(key: string): void {
    this.rows.delete(key);
  }
}

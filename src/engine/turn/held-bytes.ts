// Bytes that executions hold, by tenant, and the executions that wait for some to be freed.

export class HeldBytes<Waiting> {
  private readonly mayHold: (ofTenant: number, ofAll: number) => boolean;
  private readonly byTenant = new Map<string, { bytes: number }>();
  private readonly waiting = new Map<Waiting, string>();
  private held = 0;

  /** `mayHold`: whether a tenant may hold more, given its share and the total. */
  constructor(mayHold: (ofTenant: number, ofAll: number) => boolean) {
    this.mayHold = mayHold;
  }

  add(tenantId: string, bytes: number): void {
    this.held += bytes;
    const entry = this.byTenant.get(tenantId);
    if (entry === undefined) {
      if (bytes > 0) this.byTenant.set(tenantId, { bytes });
      return;
    }
    entry.bytes += bytes;
    if (entry.bytes <= 0) this.byTenant.delete(tenantId);
  }

  hasRoom(tenantId: string, more = 0, moreOfAll = more): boolean {
    return this.mayHold(this.of(tenantId) + more, this.held + moreOfAll);
  }

  get ofAll(): number {
    return this.held;
  }

  wait(tenantId: string, who: Waiting): void {
    this.waiting.set(who, tenantId);
  }

  /** Removes those whose tenant has room now, longest wait first. They may have to wait again. */
  ready(): Waiting[] {
    if (this.waiting.size === 0) return [];
    const ready = [...this.waiting].filter(([, tenantId]) => this.hasRoom(tenantId)).map(([who]) => who);
    for (const who of ready) this.waiting.delete(who);
    return ready;
  }

  of(tenantId: string): number {
    return this.byTenant.get(tenantId)?.bytes ?? 0;
  }
}

// Bytes that executions hold, by tenant, and who waits until some are given back.

export class HeldBytes<Waiting> {
  private readonly mayHold: (ofTenant: number, ofAll: number) => boolean;
  private readonly byTenant = new Map<string, number>();
  private readonly waiting = new Map<Waiting, string>();
  private held = 0;

  /** `mayHold`: whether a tenant that holds so many of so many may hold more. */
  constructor(mayHold: (ofTenant: number, ofAll: number) => boolean) {
    this.mayHold = mayHold;
  }

  add(tenantId: string, bytes: number): void {
    const left = this.of(tenantId) + bytes;
    this.held += bytes;
    if (left > 0) this.byTenant.set(tenantId, left);
    else this.byTenant.delete(tenantId);
  }

  hasRoom(tenantId: string, more = 0): boolean {
    return this.mayHold(this.of(tenantId) + more, this.held + more);
  }

  wait(tenantId: string, who: Waiting): void {
    this.waiting.set(who, tenantId);
  }

  /** Takes out those whose tenant has room now, the longest first. They may have to wait again. */
  ready(): Waiting[] {
    const ready = [...this.waiting].filter(([, tenantId]) => this.hasRoom(tenantId)).map(([who]) => who);
    for (const who of ready) this.waiting.delete(who);
    return ready;
  }

  private of(tenantId: string): number {
    return this.byTenant.get(tenantId) ?? 0;
  }
}

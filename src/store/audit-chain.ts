// A tenant's audit log is a chain: each record has the next number, and a hash over its content and the previous hash. Following
// the chain shows a changed, removed or inserted record. Records removed from the end show only to a reader who kept an earlier
// head.

import type { AuditLink, AuditStore } from './audit-port.ts';

const PAGE = 5_000;

export interface VerifiedChain {
  readonly records: number;
  readonly head: AuditLink | null;
  /** null: the chain is whole. */
  readonly problem: string | null;
}

export async function verifyChain(
  store: Pick<AuditStore, 'auditCheck'>,
  tenantId: string,
  kept?: AuditLink,
): Promise<VerifiedChain> {
  let head: AuditLink | null = null;
  for (;;) {
    const done: number = head?.seq ?? 0;
    const isBeforeKept = kept !== undefined && done < kept.seq;
    const limit = isBeforeKept ? Math.min(PAGE, kept.seq - done) : PAGE;
    const check = await store.auditCheck({ tenantId, from: head, limit });
    head = check.head;
    const records = head?.seq ?? 0;
    if (check.broken !== null) return { records, head, problem: brokenAt(check.broken) };
    if (kept !== undefined && records === kept.seq && head!.hash !== kept.hash) {
      return { records, head, problem: `record ${kept.seq} is not the one it was when its head was kept` };
    }
    if (check.checked === limit) continue;
    const missing = kept === undefined ? 0 : kept.seq - records;
    return { records, head, problem: missing > 0 ? `${missing} records at the end are missing` : null };
  }
}

function brokenAt({ seq, expectedSeq }: { seq: number; expectedSeq: number }): string {
  if (seq === expectedSeq) return `record ${seq} was changed, or one before it was`;
  return seq === expectedSeq + 1
    ? `record ${expectedSeq} is missing`
    : `records ${expectedSeq} to ${seq - 1} are missing`;
}

export const writeLink = ({ seq, hash }: AuditLink): string => `${seq}:${hash}`;

/** As `writeLink` wrote it. */
export function readLink(text: string | undefined): AuditLink | undefined {
  const [seq, hash] = text?.split(':') ?? [];
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash };
}

// Ids: uuid v7 (time first, so that inserts go to the end of every index) from bytes that the caller provides, and the
// id of a child execution, which is a function of its parent, node and attempt: deciding again gives the same id (I16).

import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';

export function uuidV7(timeMs: number, random: Uint8Array): string {
  const bytes = new Uint8Array(16);
  bytes.set(random.subarray(0, 16));
  let time = timeMs;
  for (let index = 5; index >= 0; index--) {
    bytes[index] = time % 256;
    time = Math.floor(time / 256);
  }
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return formatUuid(bytes);
}

/** When a uuid v7 was made. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

export function childExecutionId(timeMs: number, executionId: string, nodeId: string, attempt: number): string {
  return uuidV7(timeMs, sha256(utf8ToBytes(`${executionId}:${attempt}:${nodeId}`)));
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function formatUuid(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) text += '-';
    text += HEX[bytes[index]!];
  }
  return text;
}

/** The id of a run in events, logs and traces: the caller's id for an execution plan, otherwise the execution's own. */
export function runIdOf(execution: {
  readonly executionId: string;
  readonly format: string;
  readonly requestId: string | null;
}): string {
  const { executionId, format, requestId } = execution;
  return format === 'plan' ? (requestId ?? executionId) : executionId;
}

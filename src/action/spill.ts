// Outputs too large to be kept inline. Large members become artifacts, replaced by a pointer: `{ "$artifact": reference }`. Small
// members stay, so templates still read them. A pointer in a parameter is read back before the action gets it. So a large result
// is not a failure, and the journal stays small.

import { createHash } from 'node:crypto';
import { RetryableError, TerminalError } from '../core/error/error.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import type { ArtifactRef } from '../protocol/step-output.ts';

/** The largest result that one attempt may hold in memory, and the most that is read back for one attempt. */
export const MOST_SPILLED_BYTES = 64 * 1024 * 1024;

const POINTER = '$artifact';

/** What an artifact of large outputs is called. */
export const LARGE_OUTPUT = { kind: 'custom', name: 'output.json', contentType: 'application/json' } as const;

export type KeepText = (text: string) => Promise<ArtifactRef>;

/** The inline part: at most `limitBytes` of JSON text, unless a single pointer is longer. */
export async function spill(outputs: Json, limitBytes: number, keep: KeepText): Promise<Json> {
  const text = JSON.stringify(outputs);
  if (Buffer.byteLength(text) <= limitBytes) return outputs;
  if (isJsonObject(outputs)) {
    const entries = Object.entries(outputs);
    const share = Math.floor(limitBytes / Math.max(1, entries.length)) - 100;
    if (share > 0) {
      const small: JsonObject = {};
      for (const [key, member] of entries) small[key] = await spill(member, share, keep);
      if (Buffer.byteLength(JSON.stringify(small)) <= limitBytes) return small;
    }
  }
  return { [POINTER]: JSON.parse(JSON.stringify(await keep(text))) as Json };
}

/** Whether the value contains a pointer. */
export function holdsPointer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsPointer);
  return uriOf(value as JsonObject) !== null || Object.values(value).some(holdsPointer);
}

/** The value with every pointer replaced by its content. */
export async function readBack(
  value: Json,
  open: (uri: string) => Promise<AsyncIterable<Uint8Array>>,
  budget = { bytes: MOST_SPILLED_BYTES },
): Promise<Json> {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) items.push(await readBack(item, open, budget));
    return items;
  }
  const uri = uriOf(value);
  if (uri !== null) return parsed(uri, await read(uri, open, budget, (value[POINTER] as JsonObject).sha256));
  const whole: JsonObject = {};
  for (const [key, member] of Object.entries(value)) whole[key] = await readBack(member, open, budget);
  return whole;
}

function uriOf(value: JsonObject): string | null {
  const pointer = Object.hasOwn(value, POINTER) && Object.keys(value).length === 1 ? value[POINTER] : undefined;
  return isJsonObject(pointer) && typeof pointer.uri === 'string' ? pointer.uri : null;
}

async function read(
  uri: string,
  open: (uri: string) => Promise<AsyncIterable<Uint8Array>>,
  budget: { bytes: number },
  sha256: Json | undefined,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of await open(uri)) {
      budget.bytes -= chunk.length;
      if (budget.bytes < 0) {
        const message = `the parameters hold more than ${MOST_SPILLED_BYTES} bytes of artifacts`;
        throw new TerminalError('PARAMETERS_TOO_LARGE', message);
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof TerminalError) throw error;
    const { code, message } = error as { code?: unknown; message: string };
    // Not there, expired, changed, or no store: none of that passes.
    if (typeof code === 'string' && code.startsWith('ARTIFACT_')) throw new TerminalError(code, message);
    throw new RetryableError('ARTIFACT_UNAVAILABLE', `${uri} cannot be read: ${message}`);
  }
  const whole = Buffer.concat(chunks);
  requireDigest(uri, whole, sha256);
  return whole.toString();
}

/** Bytes are those that their reference names; a reference without a digest names any. */
export function requireDigest(uri: string, bytes: Buffer, sha256: unknown): void {
  if (typeof sha256 !== 'string') return;
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (digest === sha256.toLowerCase()) return;
  const message = `the sha256 of ${uri} is ${digest}, and its reference says ${sha256}`;
  throw new TerminalError('ARTIFACT_DIGEST_MISMATCH', message);
}

function parsed(uri: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new TerminalError('PARAMETERS_INVALID', `${uri} is no JSON, so it cannot stand in for a parameter`);
  }
}

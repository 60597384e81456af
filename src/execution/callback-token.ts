// The token of `/wh/{token}`: execution, node and a keyed hash over both. It needs no table of waits, cannot be guessed or made
// for another node, and exists before the node waits, because earlier steps hand out the URL.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { isUuid } from '../core/id/id.ts';

export interface CallbackTarget {
  readonly executionId: string;
  readonly nodeId: string;
}

const MAX_TOKEN_LENGTH = 1_000;

export function callbackToken(key: Uint8Array, { executionId, nodeId }: CallbackTarget): string {
  const node = Buffer.from(nodeId).toString('base64url');
  return `${executionId.replaceAll('-', '')}.${node}.${seal(key, executionId, nodeId).toString('base64url')}`;
}

/** null: not one of our tokens. */
export function readCallbackToken(key: Uint8Array, token: string): CallbackTarget | null {
  const [id, node, ...rest] = token.length > MAX_TOKEN_LENGTH ? [] : token.split('.');
  if (id === undefined || node === undefined || rest.length !== 1) return null;
  const executionId = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  if (!isUuid(executionId)) return null;
  const nodeId = Buffer.from(node, 'base64url').toString();
  // Compares the texts, not their decoded values: decoding skips stray characters, and one wait has one URL.
  const given = Buffer.from(token);
  const expected = Buffer.from(callbackToken(key, { executionId, nodeId }));
  return given.length === expected.length && timingSafeEqual(given, expected) ? { executionId, nodeId } : null;
}

function seal(key: Uint8Array, executionId: string, nodeId: string): Buffer {
  return createHmac('sha256', key).update(`${executionId}|${nodeId}`).digest().subarray(0, 18);
}

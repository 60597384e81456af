// Who sees callback tokens in answers: callers that may complete a wait anyway (scope `executions:signal`).

import { maskCallbacks } from '../protocol/callback-mask.ts';
import type { Caller } from './caller.ts';

export const maySeeCallbacks = (caller: Caller | null): boolean =>
  caller === null || caller.loose || caller.scopes.has('executions:signal');

/** Bytes are a user's file, not our text. */
export async function* maskedStream<Chunk extends string | Uint8Array>(
  stream: AsyncIterable<Chunk>,
): AsyncGenerator<string | Uint8Array> {
  for await (const chunk of stream) yield typeof chunk === 'string' ? maskCallbacks(chunk) : chunk;
}

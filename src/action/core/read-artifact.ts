// core.read-artifact: the JSON content of an artifact as an output. A loop over an artifact reads its items through it.

import { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import type { Json } from '../../core/json/json.ts';
import { defineAction } from '../action.ts';
import { requireDigest } from '../spill.ts';

const MOST_BYTES = 16 * 1024 * 1024;

export const readArtifact = defineAction({
  type: 'core.read-artifact',
  version: '1.0.0',
  connector: 'core',
  codes: ['ARTIFACT_NOT_FOUND', 'ARTIFACT_GONE', 'ARTIFACT_DIGEST_MISMATCH', 'ARTIFACT_NOT_JSON', 'ARTIFACT_TOO_LARGE'],
  category: 'Data',
  displayName: 'Read artifact',
  description: 'Returns the JSON that an artifact of this tenant holds, as `value`.',
  params: z.strictObject({
    artifact: z
      .union([z.string().min(1), z.looseObject({ uri: z.string().min(1), sha256: z.string().optional() })])
      .describe('its reference, or its uri'),
  }),
  outputs: z.object({ value: z.json() }),
  async run({ artifact }, { artifacts }) {
    const { uri, sha256 } = typeof artifact === 'string' ? { uri: artifact } : artifact;
    const whole = await bytesOf(uri, artifacts);
    requireDigest(uri, whole, sha256);
    try {
      return { outputs: { value: JSON.parse(whole.toString()) as Json } };
    } catch {
      throw new TerminalError('ARTIFACT_NOT_JSON', `${uri} does not hold JSON`);
    }
  },
});

async function bytesOf(uri: string, artifacts: { open(uri: string): Promise<AsyncIterable<Uint8Array>> }) {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of await artifacts.open(uri)) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) throw new TerminalError('ARTIFACT_TOO_LARGE', `${uri} has more than ${MOST_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (typeof code === 'string' && code.startsWith('ARTIFACT_')) throw new TerminalError(code, message);
    throw error;
  }
  return Buffer.concat(chunks);
}

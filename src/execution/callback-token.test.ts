import { describe, expect, it } from 'vitest';
import { callbackToken, readCallbackToken } from './callback-token.ts';

const key = new Uint8Array(32).fill(7);
const executionId = '0190d2c0-1111-7222-8333-444455556666';

describe('a callback token', () => {
  it.each(['hook', 'payment-result', 'a.b', 'ä ö|ü', 'x'.repeat(200)])(
    'a callback token names its execution and its node: %s',
    (nodeId) => {
      const token = callbackToken(key, { executionId, nodeId });
      expect(readCallbackToken(key, token)).toEqual({ executionId, nodeId });
      expect(encodeURIComponent(token)).toBe(token);
    },
  );

  it('a callback token cannot be forged without the key, or for another node or execution', () => {
    const token = callbackToken(key, { executionId, nodeId: 'hook' });
    const [id, node, seal] = token.split('.') as [string, string, string];
    const other = callbackToken(key, { executionId, nodeId: 'other' }).split('.')[1]!;
    const forgeries = [
      callbackToken(new Uint8Array(32), { executionId, nodeId: 'hook' }),
      `${id}.${other}.${seal}`,
      `${id.replace('4444', '4445')}.${node}.${seal}`,
      `${id}.${node}.${seal.slice(0, -4)}`,
      `${id}.${node}.`,
      `${id}.${node}`,
      `${token}.more`,
      `${token}x`,
      `${id}.${node}.${seal}==`,
      `${id}.${node}~.${seal}`,
      `${id.toUpperCase()}.${node}.${seal}`,
      '',
      '...',
      `${'0'.repeat(5_000)}.${node}.${seal}`,
    ];
    for (const forgery of forgeries) expect(readCallbackToken(key, forgery)).toBeNull();
  });
});

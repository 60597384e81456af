import { describe, expect, it } from 'vitest';
import { createAuth } from './authenticator.ts';

describe('a strict server that knows only API keys', () => {
  const { authenticate } = createAuth('strict', []);

  it('asks whoever sends nothing for a proof', async () => {
    await expect(authenticate({})).rejects.toThrow('send a token as');
  });

  it('does not ask whoever sent a token for a token', async () => {
    await expect(authenticate({ authorization: 'Bearer x' })).rejects.toThrow('verifies no tokens, only API keys');
  });
});

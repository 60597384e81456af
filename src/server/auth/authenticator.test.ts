import { describe, expect, it } from 'vitest';
import { createAuth } from './authenticator.ts';

describe('a strict server that knows only API keys', () => {
  const { authenticate } = createAuth('strict', []);

  it('a request without credentials is asked for a token', async () => {
    await expect(authenticate({})).rejects.toThrow('send a token as');
  });

  it('a request with a token is refused, with the hint that only API keys are accepted', async () => {
    await expect(authenticate({ authorization: 'Bearer x' })).rejects.toThrow('verifies no tokens, only API keys');
  });
});

// Long-lived answers: streams and long polls. They must not outlive their credential: a token ends them when it expires, a key
// when it is revoked or expires. Each credential is checked once, however many answers it holds open.

import type { IncomingHttpHeaders, Server } from 'node:http';
import type { FastifyReply } from 'fastify';
import { PawlError } from '../core/error/pawl-error.ts';
import { type Auth, credentialIn } from './auth/authenticator.ts';
import { whenClosed } from './load.ts';

const LOOK_MS = 1_000;

export interface HeldOpen {
  /** Aborts when the credential of these headers is no longer valid. */
  until(headers: IncomingHttpHeaders, reply: FastifyReply): AbortSignal;
}

interface Credential {
  readonly headers: IncomingHttpHeaders;
  readonly open: Set<AbortController>;
}

export function heldOpen(server: Server, auth: Auth): HeldOpen {
  const credentials = new Map<string, Credential>();
  let looking = false;
  const look = async () => {
    for (const [name, { headers, open }] of [...credentials]) {
      if (await isGood(auth, headers)) continue;
      for (const controller of open) controller.abort();
      credentials.delete(name);
    }
  };
  const clock = setInterval(() => {
    if (looking || credentials.size === 0) return;
    looking = true;
    void look().finally(() => {
      looking = false;
    });
  }, LOOK_MS).unref();
  server.once('close', () => clearInterval(clock));
  return {
    until(headers, reply) {
      const controller = new AbortController();
      const name = credentialIn(headers);
      const credential = credentials.get(name) ?? { headers, open: new Set() };
      credentials.set(name, credential);
      credential.open.add(controller);
      whenClosed(reply, () => {
        credential.open.delete(controller);
        if (credential.open.size === 0 && credentials.get(name) === credential) credentials.delete(name);
      });
      return controller.signal;
    },
  };
}

/** A silent database says nothing about a key. */
async function isGood(auth: Auth, headers: IncomingHttpHeaders): Promise<boolean> {
  try {
    await auth.authenticate(headers);
    return true;
  } catch (error) {
    return !(error instanceof PawlError && error.code === 'UNAUTHENTICATED');
  }
}

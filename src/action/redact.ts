// Keeps the secrets that an attempt was handed out of everything it says about itself: error messages, the outputs of a
// failure and log lines (S6). A secret is looked for as it is, as it looks inside JSON text, and percent-encoded. What a
// successful action returns is its own business and is left alone.

import type { Credentials } from './action.ts';

const REDACTED = '[redacted]';

export class Redactor {
  #secrets: string[] = [];

  add(secret: string): void {
    if (secret === '') return;
    const forms = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())]);
    // The longest first: one secret may contain another.
    this.#secrets = [...new Set([...this.#secrets, ...forms])].sort((a, b) => b.length - a.length);
  }

  redact(text: string): string {
    let redacted = text;
    for (const secret of this.#secrets) redacted = redacted.replaceAll(secret, REDACTED);
    return redacted;
  }
}

/** The same credentials, with every token that is handed out known to the redactor. */
export function watchCredentials(credentials: Credentials, redactor: Redactor): Credentials {
  return {
    token(connectorId) {
      const token = credentials.token(connectorId);
      if (token !== undefined) redactor.add(token);
      return token;
    },
  };
}

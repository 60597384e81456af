// A refusal with a stable code: the request cannot be carried out, and why. The server turns it into the error envelope with the
// registry's HTTP status; the CLI prints the message. The message must not contain anything internal.

import type { ErrorCode } from './codes.ts';

export class PawlError extends Error {
  override readonly name = 'PawlError';
  readonly code: ErrorCode;
  readonly details: unknown;

  constructor(code: ErrorCode, message: string, details?: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

// A refusal with a stable code: what was asked cannot be done, and why. The server turns it into the error envelope by
// the registry's HTTP status; the CLI prints the message. Nothing internal belongs into the message.

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

// Ties together a request, its answer, its log lines and its execution: X-Correlation-Id as given, or generated here; and the
// caller's trace.

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { PawlError } from '../core/error/pawl-error.ts';
import { formatTraceparent, parseTraceparent } from '../core/id/trace-context.ts';

export const CORRELATION_HEADER = 'x-correlation-id';
const PRINTABLE = /^[\x20-\x7e]{1,200}$/;

export interface Correlation {
  readonly id: string;
  readonly given: string | undefined;
  /** The header is present but unusable: the request is refused, with an id that we generate. */
  readonly problem: PawlError | null;
}

export function correlationOf(headers: IncomingHttpHeaders): Correlation {
  const header = headers[CORRELATION_HEADER];
  if (header === undefined || header === '') return { id: randomUUID(), given: undefined, problem: null };
  if (typeof header === 'string' && PRINTABLE.test(header)) return { id: header, given: header, problem: null };
  const message = 'X-Correlation-Id must be 1 to 200 printable ASCII characters';
  return { id: randomUUID(), given: undefined, problem: new PawlError('REQUEST_INVALID', message) };
}

/** The caller's W3C trace context. A malformed one is ignored, as the standard asks: tracing never fails a request. */
export function traceOf({ traceparent }: IncomingHttpHeaders): { readonly traceparent?: string } {
  const context = typeof traceparent === 'string' ? parseTraceparent(traceparent) : null;
  return context === null ? {} : { traceparent: formatTraceparent(context) };
}

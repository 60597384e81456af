// What a failed call to Temporal means for the person who set it up: what is wrong, and what to do next.

import { EngineUnavailableError } from '../driver.ts';

/** gRPC's numbers. */
const GRPC = {
  deadline: 4,
  notFound: 5,
  alreadyExists: 6,
  denied: 7,
  exhausted: 8,
  unavailable: 14,
  unauthenticated: 16,
};
const INVALID_ARGUMENT = 3;

export interface TemporalPlace {
  readonly address: string;
  readonly namespace?: string;
}

export class MissingNamespaceError extends EngineUnavailableError {}
export class MissingSearchAttributeError extends EngineUnavailableError {}

/** The same error, in words that say what to do. */
export function temporalProblem(error: unknown, { address, namespace }: TemporalPlace): Error {
  if (error instanceof EngineUnavailableError) return error;
  const { code, text } = describe(error);
  const options = { cause: error };
  if (/certificate|TLS|SSL|CERT_|handshake|wrong version number|BoringSSL|tls/i.test(text)) {
    return new EngineUnavailableError(
      `Temporal at ${address} refused the TLS connection: ${text}. Check temporal.tls.caFile, certFile, keyFile and serverName, or turn TLS off with temporal.tls.enabled=false`,
      options,
    );
  }
  // The SDK throws an error of its own here, which has no code.
  if (/namespace .*not found/i.test(text) || (code === GRPC.notFound && /namespace/i.test(text))) {
    return new MissingNamespaceError(
      `Temporal at ${address} has no namespace "${namespace}". Run: pawl temporal setup`,
      options,
    );
  }
  if (code === INVALID_ARGUMENT && /search attribute/i.test(text)) {
    return new MissingSearchAttributeError(
      `the namespace "${namespace}" of Temporal at ${address} lacks a search attribute: ${text}. Run: pawl temporal setup`,
      options,
    );
  }
  if (code === GRPC.denied || code === GRPC.unauthenticated) {
    return new EngineUnavailableError(
      `Temporal at ${address} does not let us in: ${text}. Check temporal.apiKey and the rights on the namespace "${namespace}"`,
      options,
    );
  }
  if (code === GRPC.unavailable || code === GRPC.deadline || code === GRPC.exhausted || isUnreachable(text)) {
    return new EngineUnavailableError(
      `Temporal does not answer at ${address}: ${text}. Start it (npm run servers -- start temporal), or set temporal.address`,
      options,
    );
  }
  return new Error(`Temporal at ${address}: ${text}`, options);
}

function isUnreachable(text: string): boolean {
  return /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|EHOSTUNREACH|Failed to connect|transport error|Connection refused|TransportError/i.test(
    text,
  );
}

/** The SDK wraps what the server said, sometimes twice. */
function describe(error: unknown): { code: number | undefined; text: string } {
  const texts: string[] = [];
  let code: number | undefined;
  for (let each = error; each instanceof Error; each = each.cause) {
    const { details, reason, code: itsCode } = each as Error & { details?: unknown; reason?: unknown; code?: unknown };
    if (typeof itsCode === 'number') code ??= itsCode;
    // OpenSSL has a reason in words, and a message with its own file names.
    const said = [details, reason].find((text) => typeof text === 'string' && text !== '');
    texts.push(typeof said === 'string' ? said : each.message);
  }
  return { code, text: texts.length === 0 ? String(error) : texts.at(-1)! };
}

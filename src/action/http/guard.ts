// The one place where an outbound socket opens, and so where the address is checked (S5): direct, by name, after a redirect or a
// DNS change. A name is resolved once. If any of its addresses is refused, the name is refused. The socket connects only to the
// checked addresses, so a second answer of a hostile resolver never counts.

import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { TerminalError } from '../../core/error/error.ts';
import { type AddressPolicy, normalizeHost } from './address.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

export const systemResolve: Resolve = (host) => lookup(host, { all: true });

export interface GuardOptions {
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  readonly connectTimeoutMs: number;
}

export function guardedConnector({ policy, resolve, connectTimeoutMs }: GuardOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    lookup: guardedLookup(policy, resolve),
  });
  return (options, callback) => {
    const host = normalizeHost(options.hostname);
    // A literal address is connected without a lookup.
    const kind = isIP(host) === 0 ? null : policy.refusal(host);
    if (kind !== null) return callback(blocked(`${host} is a ${kind} address`), null);
    connect(options, callback);
  };
}

function guardedLookup(policy: AddressPolicy, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        const refused = policy.allowsHost(hostname) ? null : refusalOfAny(policy, addresses);
        if (refused !== null) callback(blocked(`${hostname} resolves to a ${refused} address`), []);
        else if (first === undefined) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), []);
        else if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

function refusalOfAny(policy: AddressPolicy, addresses: readonly ResolvedAddress[]): string | null {
  for (const { address } of addresses) {
    const refused = policy.refusal(address);
    if (refused !== null) return refused;
  }
  return null;
}

/** Names the kind of address, not the address itself, which would reveal the network. */
function blocked(what: string): TerminalError {
  return new TerminalError(
    'SSRF_BLOCKED',
    `${what}; requests to it are not allowed unless the operator allows the host`,
  );
}

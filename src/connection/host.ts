// The hosts that may receive a credential: `api.example.com`, `*.example.com` (any name below it), optionally with a port; and
// the changes of a connection that lead its credential to another host. Pure.

import type { Settings } from './connection.ts';

export function isAllowedHost(allowedHosts: readonly string[], { hostname, port, protocol }: URL): boolean {
  if (allowedHosts.length === 0) return true;
  const actual = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return allowedHosts.some((allowed) => {
    const [, pattern, wanted] = /^(.*?)(?::(\d+))?$/.exec(allowed.toLowerCase())!;
    if (wanted !== undefined && wanted !== actual) return false;
    const name = hostname.toLowerCase();
    return pattern!.startsWith('*.') ? name.endsWith(pattern!.slice(1)) : name === pattern;
  });
}

interface Led {
  readonly connector: string;
  readonly allowedHosts: readonly string[];
  /** As JSON. */
  readonly settings: string;
}

/** Addresses that receive a secret of the connection. */
const ADDRESSES = ['tokenUrl', 'authorizationUrl', 'checkUrl'] as const;

/** The fields through which `next` sends its credential to an address that `now` does not use. */
export function leadsElsewhere(now: Led, next: Led): string[] {
  const [before, after] = [now, next].map(({ settings }) => JSON.parse(settings) as Settings) as [Settings, Settings];
  const moved = ADDRESSES.filter(
    (field) => after[field] !== undefined && originOf(after[field]) !== originOf(before[field]),
  );
  const isWider =
    now.allowedHosts.length > 0 &&
    (next.allowedHosts.length === 0 || next.allowedHosts.some((host) => !now.allowedHosts.includes(host)));
  return [...(now.connector === next.connector ? [] : ['connector']), ...(isWider ? ['allowedHosts'] : []), ...moved];
}

const originOf = (url: string | undefined): string | null => (url === undefined ? null : new URL(url).origin);

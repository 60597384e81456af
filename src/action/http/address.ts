// Which addresses outbound requests may reach (S5): public unicast ones, and those that the operator allowed. The number decides,
// never its spelling. An IPv6 address that contains an IPv4 one (mapped, NAT64) is judged by the IPv4 address; other embeddings
// (compatible, 6to4, Teredo) are refused.

import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Cidr = [Address, number];

export interface AddressPolicyOptions {
  /** For development: programs on this machine. */
  readonly allowLoopback?: boolean;
  /** Addresses (10.0.0.5), ranges (10.1.0.0/16) and host names (crm.internal, *.svc.internal). */
  readonly allow?: readonly string[];
}

export interface AddressPolicy {
  /** The operator trusts this name, whatever it resolves to. */
  allowsHost(host: string): boolean;
  /** The kind of a refused address; null: it may be reached. */
  refusal(address: string): string | null;
}

export function createAddressPolicy({ allowLoopback = false, allow = [] }: AddressPolicyOptions = {}): AddressPolicy {
  const ranges = allow.filter(isNumeric).map(parseRange);
  const names = allow.filter((entry) => !isNumeric(entry)).map(parseName);
  return {
    allowsHost: (host) => {
      const name = normalizeHost(host);
      return names.some((entry) => (entry.startsWith('.') ? name.endsWith(entry) : name === entry));
    },
    refusal: (text) => {
      if (!ipaddr.isValid(text)) return 'invalid';
      if (IPV4_COMPATIBLE.test(text)) return 'reserved';
      const address = carried(ipaddr.parse(text));
      const isAllowed = ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
      if (isAllowed) return null;
      const kind = kindOf(address);
      return kind === 'public' || (allowLoopback && kind === 'loopback') ? null : kind;
    },
  };
}

/** Normalises brackets, a trailing dot and upper case, which do not make another host. */
export function normalizeHost(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}

/** Azure's WireServer: metadata behind an address that looks public. */
const PUBLIC_LOOKING = ipaddr.parseCIDR('168.63.129.16/32');
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');

/** `::10.0.0.1`, as resolvers write it. The parser would take it for the mapped form. */
const IPV4_COMPATIBLE = /^::\d+\./;

function carried(address: Address): Address {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(NAT64) ? ipaddr.fromByteArray(address.toByteArray().slice(12)) : address;
}

function kindOf(address: Address): string {
  const range = address.range();
  if (range !== 'unicast') return range;
  if (address instanceof ipaddr.IPv4) return address.match(PUBLIC_LOOKING) ? 'reserved' : 'public';
  return address.match(GLOBAL_UNICAST) ? 'public' : 'reserved';
}

function isNumeric(entry: string): boolean {
  return ipaddr.isValid(entry) || ipaddr.isValidCIDR(entry);
}

function parseRange(entry: string): Cidr {
  const [base, bits] = ipaddr.isValidCIDR(entry)
    ? ipaddr.parseCIDR(entry)
    : [ipaddr.parse(entry), ipaddr.parse(entry).kind() === 'ipv4' ? 32 : 128];
  return [base, bits];
}

const HOST_NAME = /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** `*.example.com` becomes `.example.com`. */
function parseName(entry: string): string {
  const name = normalizeHost(entry);
  if (!HOST_NAME.test(name)) {
    throw new Error(`"${entry}" cannot be allowed: expected an address, a range such as 10.1.0.0/16 or a host name`);
  }
  return name.startsWith('*.') ? name.slice(1) : name;
}

// Which hosts a credential may be sent to: `api.example.com`, `*.example.com` (any name below it), with a port if it is to be that
// one. Pure.

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

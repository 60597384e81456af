// The error codes of HTTP calls, as the catalog lists them for http.request and pipeline tasks.

export const HTTP_CODES = [
  'HTTP_STATUS',
  'HTTP_TIMEOUT',
  'NETWORK_ERROR',
  'CREDENTIAL_REFUSED',
  'RESPONSE_INVALID',
  'RESPONSE_TOO_LARGE',
  'SSRF_BLOCKED',
  'TOO_MANY_REDIRECTS',
] as const;

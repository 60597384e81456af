// The codes that a call over HTTP fails with: what the catalog lists for http.request and for the tasks of pipelines.

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

// Headers of outbound requests: those that HTTP does not allow, and those that belong to the connection and could smuggle a
// request or reach another virtual host than the checked one (S5). Literal headers are checked when a pipeline is created, and
// all headers at every request.

/** The characters of header names and methods. */
export const HTTP_TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** null: none. */
export function headerNameProblem(name: string): string | null {
  if (!HTTP_TOKEN.test(name)) return 'has a name that HTTP does not allow';
  return OF_THE_CONNECTION.has(name.toLowerCase()) ? 'is set by the client and cannot be given' : null;
}

/** null: none. */
export function headerValueProblem(value: string): string | null {
  return VALUE.test(value) ? null : 'has a value that HTTP does not allow (line breaks, or characters beyond Latin-1)';
}

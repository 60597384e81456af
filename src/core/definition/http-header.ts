// Headers of an outbound request: which HTTP does not allow, and which belong to the connection and could be used to smuggle
// a request or to reach another virtual host than the one whose address was checked (S5). Asked when a pipeline is created,
// of what is known then, and again of every request.

/** What names of headers and methods are made of. */
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

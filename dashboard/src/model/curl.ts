// An HTTP attempt as a command that a person can try.

export function curlOf(parameters: unknown): string | null {
  if (typeof parameters !== 'object' || parameters === null) return null;
  const { url, method = 'GET', headers, body } = parameters as Record<string, unknown>;
  if (typeof url !== 'string' || !/^https?:\/\//.test(url)) return null;
  const lines = [`curl -X ${String(method)} ${quoted(url)}`];
  if (typeof headers === 'object' && headers !== null) {
    for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoted(`${name}: ${String(value)}`)}`);
  }
  if (body !== undefined) {
    lines.push(`-H ${quoted('content-type: application/json')}`);
    lines.push(`-d ${quoted(typeof body === 'string' ? body : JSON.stringify(body))}`);
  }
  return lines.join(' \\\n  ');
}

/** For a shell: nothing inside single quotes means anything. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

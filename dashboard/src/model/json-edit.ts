// Changes one value of a JSON text. The text is written anew with two spaces, as the editor shows it; a text that is not JSON
// stays as it is.

export function withValueAt(text: string, pointer: string, value: unknown): string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return text;
  }
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = parts.pop();
  let place = document as Record<string, unknown>;
  for (const part of parts) {
    const next = Object.hasOwn(place, part) ? place[part] : undefined;
    if (typeof next !== 'object' || next === null) return text;
    place = next as Record<string, unknown>;
  }
  if (last === undefined || last === '__proto__') return text;
  place[last] = value;
  return `${JSON.stringify(document, null, 2)}\n`;
}

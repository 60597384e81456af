// Small texts: shortened ids, counts that are capped, sizes, plurals.

/** The first and the last characters of an id, which is what people compare. */
export function shortId(id: string): string {
  return id.length <= 13 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}

export function countText(count: number, isCapped = false): string {
  const text = count >= 10_000 ? `${Math.floor(count / 1_000)}k` : count.toLocaleString('en-US');
  return isCapped ? `${text}+` : text;
}

export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KB`;
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

/** Names may be 10,000 characters long. */
export function clipped(text: string, length = 120): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

export function percentText(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (100 * part) / whole;
  if (percent === 0) return '0 %';
  return percent < 1 ? '< 1 %' : `${percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** A name as an id: letters, digits and "-", beginning with a letter. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .replace(/-$/, '')
    .slice(0, 80);

// Cleans a text for a `text` column. PostgreSQL refuses U+0000 and lone surrogates, so they are replaced. A message longer than 4
// KB is cut, and says by how much.

const MAX_MESSAGE_LENGTH = 4096;

export function cleanText(text: string): string {
  const withoutNul = text.includes('\u0000') ? text.replaceAll('\u0000', '\ufffd') : text;
  return withoutNul.isWellFormed() ? withoutNul : withoutNul.toWellFormed();
}

/** Cleaned after the cut, because a cut can split a surrogate pair. */
export function cleanMessage(text: string, maxLength: number = MAX_MESSAGE_LENGTH): string {
  if (text.length <= maxLength) return cleanText(text);
  return `${cleanText(text.slice(0, maxLength))}… (${text.length - maxLength} more characters)`;
}

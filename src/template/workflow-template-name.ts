// The id of a workflow that is made from a template: the slug of its display name, numbered when that is taken. Pure.

/** Room for a number, within what ids may have. */
const MAX_SLUG = 180;

/** `fallback`: when nothing of the name can be part of an id. */
export function slugOf(displayName: string, fallback: string): string {
  const plain = displayName
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replaceAll(/^-+|-+$/g, '');
  return plain === '' ? fallback : plain;
}

export function freeName(base: string, taken: readonly string[]): string {
  const names = new Set(taken);
  if (!names.has(base)) return base;
  let number = 2;
  while (names.has(`${base}-${number}`)) number += 1;
  return `${base}-${number}`;
}

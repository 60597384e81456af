// The id of a workflow created from a template: the slug of its display name, numbered when it is taken. Pure.

/** Leaves room for a number within the length of an id. */
const MAX_SLUG = 180;

/** `fallback`: used when no part of the name fits into an id. */
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

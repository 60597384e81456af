// What people look for is a part of a text, whatever characters it has: none of them is a wildcard.

/** For `ilike`; null: everything. */
export function patternOf(part: string | null | undefined): string | null {
  return part == null ? null : `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

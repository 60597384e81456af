// A searched text is literal: none of its characters is a wildcard.

/** For `ilike`; null: everything. */
export function patternOf(part: string | null | undefined): string | null {
  return part == null ? null : `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

// Describes bodies that need exactly one, or at least one, of several fields. The check itself is a `refine` beside it, because
// only a refine can explain the problem in words.

/** For `meta`. null counts as omitted. Inside `allOf`, so that client generators do not create a type per choice. */
export const oneOfFields = (...names: readonly string[]) => ({
  allOf: [{ oneOf: names.map(present) }],
});

/** For `meta`. `nullable`: fields in which null has a meaning, so null does not count as omitted. */
export const anyOfFields = (names: readonly string[], nullable: readonly string[] = []) => ({
  allOf: [{ anyOf: names.map((name) => (nullable.includes(name) ? { required: [name] } : present(name))) }],
});

const present = (name: string) => ({ required: [name], properties: { [name]: { not: { type: 'null' } } } });

// What the API's description says of a body that must have one of several fields, exactly or at least. The check itself stands beside, as a
// `refine`, because only a refine can say in words what is wrong.

/** For `meta`. Null is a field that was left out. Inside `allOf`, so that generators of clients do not make a type of each choice. */
export const oneOfFields = (...names: readonly string[]) => ({
  allOf: [{ oneOf: names.map(present) }],
});

/** For `meta`. `nullable`: fields of which null means something, so that a null is no field that was left out. */
export const anyOfFields = (names: readonly string[], nullable: readonly string[] = []) => ({
  allOf: [{ anyOf: names.map((name) => (nullable.includes(name) ? { required: [name] } : present(name))) }],
});

const present = (name: string) => ({ required: [name], properties: { [name]: { not: { type: 'null' } } } });

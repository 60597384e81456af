// What the API's description says of a body that must have exactly one of several fields. The check itself stands beside, as a
// `refine`, because only a refine can say in words what is wrong.

/** For `meta`. Null is a field that was left out. Inside `allOf`, so that generators of clients do not make a type of each choice. */
export const oneOfFields = (...names: readonly string[]) => ({
  allOf: [{ oneOf: names.map((name) => ({ required: [name], properties: { [name]: { not: { type: 'null' } } } })) }],
});

// The changes that somebody made to a node's input. A signal merges its fields into the input, so only changed fields are sent:
// the others are still rendered from each execution's data.

type Fields = Readonly<Record<string, unknown>>;

export interface InputChange {
  readonly changed: Fields;
  /** Why the change cannot be sent; null: it can. */
  readonly refused: string | null;
}

/** `text`: the input as somebody typed it. */
export function inputChange(given: Fields, text: string): InputChange {
  let typed: unknown;
  try {
    typed = JSON.parse(text);
  } catch {
    return { changed: {}, refused: 'The input is not JSON yet' };
  }
  if (typeof typed !== 'object' || typed === null || Array.isArray(typed)) {
    return { changed: {}, refused: 'The input must be an object' };
  }
  const now = typed as Fields;
  const lost = Object.keys(given).find((name) => !Object.hasOwn(now, name));
  if (lost !== undefined) {
    return { changed: {}, refused: `The field ${lost} cannot be taken out: set it to another value, or to null` };
  }
  const fields = Object.entries(now).filter(
    ([name, value]) => !Object.hasOwn(given, name) || JSON.stringify(value) !== JSON.stringify(given[name]),
  );
  return { changed: Object.fromEntries(fields), refused: null };
}

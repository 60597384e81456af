// Replaces one method of a class for the time of a run.

/** Returns a function that puts the original method back. */
export function replace<T extends object, K extends keyof T>(
  target: T,
  key: K,
  change: (original: T[K]) => T[K],
): () => void {
  const original = target[key];
  target[key] = change(original);
  return () => {
    target[key] = original;
  };
}

// Every draft execution stores a snapshot of its draft under a negative version. Callers see version 0, "the draft".

export function shownVersion(version: number): number {
  return Math.max(0, version);
}

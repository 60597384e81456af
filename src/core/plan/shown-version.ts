// Every draft that is run leaves a snapshot of its own, stored below zero. To everybody outside they are all "the draft", version 0.

export function shownVersion(version: number): number {
  return Math.max(0, version);
}

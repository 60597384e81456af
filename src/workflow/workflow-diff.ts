// The changes between two versions of a definition, as JSON pointers. Items with an id are compared by id, not by position: a
// node inserted at the front is one change, not a change of every node after it. Pure.

import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import { childPointer } from '../core/problem/pointer.ts';

export type Change =
  | { readonly op: 'add'; readonly path: string; readonly after: Json }
  | { readonly op: 'remove'; readonly path: string; readonly before: Json }
  | { readonly op: 'replace'; readonly path: string; readonly before: Json; readonly after: Json }
  /** The same item at another position among those that are in both. */
  | { readonly op: 'move'; readonly path: string; readonly from: string };

/** The path of a removal is in `before`, every other path in `after`. */
export function diffJson(before: Json, after: Json, path = ''): Change[] {
  if (before === after) return [];
  if (isJsonObject(before) && isJsonObject(after)) return diffObjects(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) {
    const key = identityKey(before, after);
    return key === null ? diffByPosition(before, after, path) : diffByKey(before, after, key, path);
  }
  return [{ op: 'replace', path, before, after }];
}

function diffObjects(before: JsonObject, after: JsonObject, path: string): Change[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => {
    const at = childPointer(path, key);
    if (!Object.hasOwn(after, key)) return [{ op: 'remove', path: at, before: before[key]! }];
    if (!Object.hasOwn(before, key)) return [{ op: 'add', path: at, after: after[key]! }];
    return diffJson(before[key]!, after[key]!, at);
  });
}

/** A list with more changes than this is shown as replaced, because a longer diff is unreadable. */
const MAX_PLACES = 1_000;

function diffByPosition(before: Json[], after: Json[], path: string): Change[] {
  const changes: Change[] = [];
  for (let index = 0; index < Math.max(before.length, after.length); index++) {
    if (changes.length > MAX_PLACES) return [{ op: 'replace', path, before, after }];
    const at = childPointer(path, index);
    if (index >= after.length) changes.push({ op: 'remove', path: at, before: before[index]! });
    else if (index >= before.length) changes.push({ op: 'add', path: at, after: after[index]! });
    else changes.push(...diffJson(before[index]!, after[index]!, at));
  }
  return changes;
}

function diffByKey(before: readonly Json[], after: readonly Json[], key: string, path: string): Change[] {
  const idOf = (item: Json): string => String((item as JsonObject)[key]);
  const oldPlaces = new Map(before.map((item, index) => [idOf(item), index]));
  const newPlaces = new Map(after.map((item, index) => [idOf(item), index]));
  const removed = before.flatMap((item, index): Change[] =>
    newPlaces.has(idOf(item)) ? [] : [{ op: 'remove', path: childPointer(path, index), before: item }],
  );
  const kept = after.map(idOf).filter((id) => oldPlaces.has(id));
  const ranks = new Map(kept.map((id, rank) => [id, rank]));
  const ranksBefore = new Map(
    kept.toSorted((a, b) => oldPlaces.get(a)! - oldPlaces.get(b)!).map((id, rank) => [id, rank]),
  );
  const others = after.flatMap((item, index): Change[] => {
    const at = childPointer(path, index);
    const oldPlace = oldPlaces.get(idOf(item));
    if (oldPlace === undefined) return [{ op: 'add', path: at, after: item }];
    const moved = ranks.get(idOf(item)) !== ranksBefore.get(idOf(item));
    const move: Change[] = moved ? [{ op: 'move', path: at, from: childPointer(path, oldPlace) }] : [];
    return [...move, ...diffJson(before[oldPlace]!, item, at)];
  });
  return [...removed, ...others];
}

const IDENTITIES = ['id', 'stepId', 'targetNode'];

/** The key that identifies every item of both lists uniquely. */
function identityKey(before: readonly Json[], after: readonly Json[]): string | null {
  const names = (list: readonly Json[], key: string) =>
    new Set(list.map((item) => (isJsonObject(item) ? item[key] : undefined)).filter((id) => typeof id === 'string'));
  const found = IDENTITIES.find((key) => [before, after].every((list) => names(list, key).size === list.length));
  return found ?? null;
}

// Two authors changed the same definition: merges their changes. Objects are merged field by field, lists of items with an `id`
// (nodes, steps) item by item; any other value that both changed differently is a conflict for the reader.

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Fields = { readonly [name: string]: Json };

export interface Merge {
  /** With mine where both changed the same thing. */
  readonly merged: unknown;
  /** JSON pointers of what both changed differently. */
  readonly conflicts: readonly string[];
}

export function mergeDefinitions(base: unknown, mine: unknown, theirs: unknown): Merge {
  const conflicts: string[] = [];
  const merged = merge(base as Json, mine as Json, theirs as Json, '', conflicts);
  return { merged, conflicts };
}

function merge(
  base: Json | undefined,
  mine: Json | undefined,
  theirs: Json | undefined,
  path: string,
  conflicts: string[],
): Json | undefined {
  if (isSame(mine, theirs) || isSame(base, theirs)) return mine;
  if (isSame(base, mine)) return theirs;
  if (isFields(mine) && isFields(theirs)) {
    return mergeFields(isFields(base) ? base : {}, mine, theirs, path, conflicts);
  }
  const lists = [base ?? [], mine, theirs].map((list) => (isIdentified(list) ? list : null));
  const [before, ours, others] = lists;
  if (before !== null && ours !== null && others !== null) {
    return mergeLists(before!, ours!, others!, path, conflicts);
  }
  conflicts.push(path === '' ? '/' : path);
  return mine;
}

function mergeFields(base: Fields, mine: Fields, theirs: Fields, path: string, conflicts: string[]): Fields {
  const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
  const at = (fields: Fields, name: string) => (Object.hasOwn(fields, name) ? fields[name] : undefined);
  const entries = names.flatMap((name): [string, Json][] => {
    const pointer = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const value = merge(at(base, name), at(mine, name), at(theirs, name), pointer, conflicts);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

type Identified = readonly (Fields & { readonly id: string })[];

/** Mine in my order, then what they added. */
function mergeLists(base: Identified, mine: Identified, theirs: Identified, path: string, conflicts: string[]): Json {
  const byId = (list: Identified) => new Map<string, Json>(list.map((each) => [each.id, each]));
  const [before, ours, others] = [byId(base), byId(mine), byId(theirs)];
  const ids = [...new Set([...ours.keys(), ...others.keys()])];
  return ids.flatMap((id): Json[] => {
    const pointer = `${path}/${id.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const value = merge(before.get(id), ours.get(id), others.get(id), pointer, conflicts);
    return value === undefined ? [] : [value];
  });
}

const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isIdentified(value: Json | undefined): value is Identified {
  if (!Array.isArray(value)) return false;
  const ids = (value as readonly Json[]).map((each) => (isFields(each) ? each.id : undefined));
  return ids.every((id) => typeof id === 'string') && new Set(ids).size === ids.length;
}

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

/** The order of fields means nothing. */
function sorted(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((each: Json) => sorted(each)!);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, sorted(value[name])!]),
  );
}

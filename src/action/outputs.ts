// Turns an action's return value into JSON text, or says why not and where. JSON.stringify alone would drop functions and
// symbols, write a forgotten promise as {}, fail on a cycle without naming it, and build a text of any length first. So the value
// is walked once: that finds what is not JSON, and stops when the text must exceed the limit. `undefined` members are left out
// and NaN becomes null, as in JSON.stringify.

export type EncodedOutputs =
  | { readonly ok: true; readonly text: string; readonly bytes: number }
  | { readonly ok: false; readonly code: 'OUTPUT_NOT_JSON' | 'OUTPUT_TOO_LARGE'; readonly message: string };

const MAX_DEPTH = 500;
const NOTHING: EncodedOutputs = { ok: true, text: '{}', bytes: 2 };

export function encodeOutputs(outputs: unknown, limitBytes: number): EncodedOutputs {
  if (outputs === undefined) return NOTHING;
  try {
    const walk: Walk = { size: 0, limit: limitBytes };
    const defect = visit(outputs, 0, walk);
    if (defect !== null) return describeDefect(defect, outputs, limitBytes);
    const text: string | undefined = JSON.stringify(outputs);
    if (text === undefined) return NOTHING;
    const bytes = Buffer.byteLength(text);
    return bytes > limitBytes ? tooLarge(`${bytes} bytes`, limitBytes) : { ok: true, text, bytes };
  } catch (thrown) {
    const detail = thrown instanceof Error ? thrown.message : 'a getter or toJSON threw';
    return notJson(`The outputs cannot be read: ${detail}`);
  }
}

interface Walk {
  /** A lower bound of the length of the JSON text so far. */
  size: number;
  readonly limit: number;
}

interface Defect {
  readonly what: 'tooLarge' | 'tooDeep' | { readonly found: string };
  /** Filled while the walk unwinds, so that a valid value costs nothing. */
  readonly path: (string | number)[];
}

function visit(value: unknown, depth: number, walk: Walk): Defect | null {
  walk.size += typeof value === 'string' ? value.length + 2 : 1;
  if (walk.size > walk.limit) return { what: 'tooLarge', path: [] };
  switch (typeof value) {
    case 'object':
      return value === null ? null : visitObject(value, depth, walk);
    case 'function':
    case 'symbol':
    case 'bigint':
      return { what: { found: `a ${typeof value}` }, path: [] };
    default:
      return null;
  }
}

function visitObject(value: object, depth: number, walk: Walk): Defect | null {
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON !== 'function') return visitMembers(value, depth, walk);
  const written: unknown = toJSON.call(value);
  // toJSON is called once, as in JSON.stringify.
  return typeof written === 'object' && written !== null
    ? visitMembers(written, depth, walk)
    : visit(written, depth, walk);
}

function visitMembers(value: object, depth: number, walk: Walk): Defect | null {
  if (depth >= MAX_DEPTH) return { what: 'tooDeep', path: [] };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const defect = visit(value[index], depth + 1, walk);
      if (defect !== null) return at(defect, index);
    }
    return null;
  }
  const exotic = exoticName(value);
  if (exotic !== null) return { what: { found: exotic }, path: [] };
  for (const key of Object.keys(value)) {
    walk.size += key.length;
    const defect = visit((value as Record<string, unknown>)[key], depth + 1, walk);
    if (defect !== null) return at(defect, key);
  }
  return null;
}

function at(defect: Defect, key: string | number): Defect {
  defect.path.unshift(key);
  return defect;
}

/** Objects that JSON.stringify would write as {} or worse. Instances of ordinary classes are written field by field. */
function exoticName(value: object): string | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return null;
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
  if (tag === 'Object') return null;
  return tag === 'Promise' ? 'a Promise (is an await missing?)' : `a ${tag}`;
}

function describeDefect({ what, path }: Defect, outputs: unknown, limitBytes: number): EncodedOutputs {
  if (what === 'tooLarge') return tooLarge(`more than ${limitBytes} bytes`, limitBytes);
  if (what === 'tooDeep') {
    const cycle: (string | number)[] = [];
    const isCircular = findCycle(outputs, cycle, new Set(), new Set());
    if (isCircular) return notJson(`${describePath(cycle)} refers back to an object that contains it`);
    return notJson(`The outputs are nested deeper than ${MAX_DEPTH} levels`);
  }
  return notJson(`${describePath(path)} is ${what.found}`);
}

/** Called only for values too deep to tell from a cycle. `cleared` avoids walking shared parts again. */
function findCycle(value: unknown, path: (string | number)[], ancestors: Set<unknown>, cleared: Set<unknown>): boolean {
  if (typeof value !== 'object' || value === null || cleared.has(value)) return false;
  if (ancestors.has(value)) return true;
  if (path.length > MAX_DEPTH) return false;
  ancestors.add(value);
  for (const [key, member] of Object.entries(value)) {
    path.push(Array.isArray(value) ? Number(key) : key);
    if (findCycle(member, path, ancestors, cleared)) return true;
    path.pop();
  }
  ancestors.delete(value);
  cleared.add(value);
  return false;
}

const SHOWN_PATH_PARTS = 12;

function describePath(path: readonly (string | number)[]): string {
  const shown = path.slice(0, SHOWN_PATH_PARTS).map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    return /^[A-Za-z_$][\w$]*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
  });
  return `outputs${shown.join('')}${path.length > SHOWN_PATH_PARTS ? '…' : ''}`;
}

function notJson(message: string): EncodedOutputs {
  return { ok: false, code: 'OUTPUT_NOT_JSON', message };
}

function tooLarge(size: string, limitBytes: number): EncodedOutputs {
  return {
    ok: false,
    code: 'OUTPUT_TOO_LARGE',
    message: `The outputs are ${size}; the limit is ${limitBytes} bytes. Return less, or store it elsewhere and return where.`,
  };
}

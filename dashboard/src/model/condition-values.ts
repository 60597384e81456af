// The values that a condition read, by path: enough to see why it was false.

interface Scope {
  readonly trigger: unknown;
  readonly spec: unknown;
  readonly outputs: Readonly<Record<string, unknown>>;
}

const PATH = /\b(trigger|inputs|spec|context\.data|tasks|steps)((?:\.[A-Za-z_$][\w$-]*|\[\d+\]|\["[^"\]]+"\])*)/g;
const PART = /\.([A-Za-z_$][\w$-]*)|\[(\d+)\]|\["([^"\]]+)"\]/g;

export function referencedValues(
  condition: string,
  scope: Scope,
): { readonly path: string; readonly value: unknown }[] {
  const found = new Map<string, unknown>();
  for (const [path, root, rest = ''] of condition.matchAll(PATH)) {
    const parts = [...rest.matchAll(PART)].map(([, name, index, quoted]) => name ?? index ?? quoted!);
    found.set(path, valueAt(rootValue(root!, scope), parts));
  }
  return [...found].map(([path, value]) => ({ path, value }));
}

function rootValue(root: string, { trigger, spec, outputs }: Scope): unknown {
  if (root === 'trigger' || root === 'inputs') return trigger;
  return root === 'spec' ? spec : outputs;
}

function valueAt(value: unknown, parts: readonly string[]): unknown {
  let here = value;
  for (const part of parts) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, part)) return undefined;
    here = (here as Record<string, unknown>)[part];
  }
  return here;
}

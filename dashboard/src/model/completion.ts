// Completions of an expression: the fields of the path typed so far, in the data of the last execution. Pure.

/** What expressions see, by its first name: `trigger`, `context`, `tasks`, `vars` … */
export type ExpressionData = Readonly<Record<string, unknown>>;

export interface Found {
  /** What is typed of the next name. */
  readonly prefix: string;
  readonly options: readonly { readonly name: string; readonly sample: string }[];
}

const EXPRESSION_KEYS = new Set(['condition', 'if', 'when', 'until', 'activationCondition']);

/** Fields whose whole text is an expression. */
export const isExpressionKey = (key: string): boolean => EXPRESSION_KEYS.has(key);

const PATH = /(?:^|[^\w$.\])])([A-Za-z_$][\w$]*(?:\.[\w$-]+|\[\d+\])*\.?)?$/;
const MOST = 100;

/** Null: no name is being typed here. */
export function completeExpression(expression: string, data: ExpressionData): Found | null {
  const found = PATH.exec(expression);
  if (found === null) return null;
  const parts = (found[1] ?? '').split('.');
  const prefix = parts.pop()!;
  let value: unknown = data;
  for (const part of parts) value = step(value, part);
  return { prefix, options: fieldsOf(value).slice(0, MOST) };
}

/** `name` or `name[3]`. */
function step(value: unknown, part: string): unknown {
  const [, name, indexes = ''] = /^([^[]*)((?:\[\d+\])*)$/.exec(part) ?? [];
  let next = field(value, name ?? '');
  for (const [, index] of indexes.matchAll(/\[(\d+)\]/g)) next = Array.isArray(next) ? next[Number(index)] : undefined;
  return next;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function fieldsOf(value: unknown): { name: string; sample: string }[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).map(([name, each]) => ({ name, sample: sampleOf(each) }));
}

function sampleOf(value: unknown): string {
  if (Array.isArray(value)) return `list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return '{ … }';
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}

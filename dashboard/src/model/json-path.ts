// How a value inside an execution's data is written in an expression: what a click in the data tree copies.

const PLAIN = /^[A-Za-z_$][\w$]*$/;

export function expressionOf(root: string, path: readonly (string | number)[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return PLAIN.test(part) ? `${text}.${part}` : `${text}[${JSON.stringify(part)}]`;
  }, root);
}

/** Where the outputs of nodes stand in expressions of a format. */
export function rootOf(format: string): string {
  if (format === 'pipeline') return 'tasks';
  return format === 'plan' ? 'steps' : 'context.data';
}

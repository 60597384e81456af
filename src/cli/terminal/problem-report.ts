// Prints problems like a good compiler: the problem, its place, the line with a mark under it, and the fix.

import type { FileProblem } from '../file/definition-file.ts';
import { type LineMap, printable } from '../file/line-map.ts';
import type { Paint } from './terminal.ts';

export function reportProblem(problem: FileProblem, fileName: string, lines: LineMap, paint: Paint): string {
  const isWarning = problem.severity === 'warning';
  const style = isWarning ? 'yellow' : 'red';
  const title = paint(style, `${isWarning ? 'warning' : 'error'}[${problem.code}]`);
  const frame = (text: string) => paint('cyan', text);
  const margin = ' '.repeat(String(problem.line ?? '').length);
  const place = problem.line === undefined ? '' : `:${problem.line}:${problem.column}`;
  const rows = [`${title}: ${printable(problem.message)}`, `${margin}${frame('-->')} ${printable(fileName)}${place}`];
  if (problem.span !== undefined) {
    const { text, offset, length } = lines.excerpt(problem.span);
    const mark = ' '.repeat(offset) + paint(style, '^'.repeat(length));
    rows.push(frame(`${margin} |`), `${frame(`${problem.line} |`)} ${text}`, `${frame(`${margin} |`)} ${mark}`);
  }
  if (problem.path !== '') rows.push(`${margin} ${frame('=')} at ${printable(problem.path)}`);
  if (problem.suggestion !== undefined) rows.push(`${margin} ${frame('=')} help: ${printable(problem.suggestion)}`);
  return rows.join('\n');
}

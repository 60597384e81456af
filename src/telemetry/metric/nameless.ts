// Removes the names of tenants and workflows from metrics, for readers who may see the installation's numbers but not its tenants
// (S1). Series that differ only by such a name are added up.

const NAMES = new Set(['tenant', 'workflowId', 'parentWorkflowId']);
const SAMPLE = /^([A-Za-z_:][\w:]*)\{(.*)\} (\S+)$/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** `text` is in the format of Prometheus. */
export function withoutNames(text: string): string {
  const lines: string[] = [];
  const folded = new Map<string, { at: number; sum: number }>();
  for (const line of text.split('\n')) {
    const series = namelessSeries(line);
    if (series === null) {
      lines.push(line);
      continue;
    }
    const { name, value } = series;
    const known = folded.get(name) ?? { at: lines.push('') - 1, sum: 0 };
    known.sum += value;
    folded.set(name, known);
    lines[known.at] = `${name} ${known.sum}`;
  }
  return lines.join('\n');
}

/** null: the line contains no name. */
function namelessSeries(line: string): { name: string; value: number } | null {
  const [, metric, labels, value] = line.startsWith('#') ? [] : (SAMPLE.exec(line) ?? []);
  if (metric === undefined) return null;
  const pairs = [...labels!.matchAll(LABEL)];
  const kept = pairs.filter(([, label]) => !NAMES.has(label!)).map(([pair]) => pair);
  if (kept.length === pairs.length) return null;
  return { name: kept.length === 0 ? metric : `${metric}{${kept.join(',')}}`, value: Number(value) };
}

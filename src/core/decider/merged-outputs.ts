// The default outputs of a graph: those of its succeeded end nodes, merged in definition order.

import { emptyRecord, isJsonObject, type Json } from '../json/json.ts';
import type { Format } from '../plan/plan.ts';
import { outputsOf } from './data-entry.ts';
import type { Frame } from './state.ts';

/**
 * `overlaps` is called for a key that two nodes share: only the later value is kept. Tasks of a pipeline all have the same
 * keys.
 */
export function mergedOutputs(
  format: Format,
  { graph, nodes, edges, data }: Frame,
  overlaps: (message: string) => void,
): Json {
  const merged = emptyRecord<Json>();
  const owners = new Map<string, string>();
  for (const [index, planNode] of graph.nodes.entries()) {
    const led = planNode.outgoing.some((edge) => edges[edge] === 'satisfied');
    const entry = data[planNode.id];
    if (nodes[index]!.status !== 'Succeeded' || led || planNode.aside || entry === undefined) continue;
    const outputs = outputsOf(format, planNode.step.kind, entry);
    const own = isJsonObject(outputs) ? outputs : { [planNode.id]: outputs };
    for (const key of format === 'graph' ? Object.keys(own) : []) {
      const other = owners.get(key);
      if (other !== undefined)
        overlaps(`both \`${other}\` and \`${planNode.id}\` return \`${key}\`: only the latter is kept`);
      owners.set(key, planNode.id);
    }
    Object.assign(merged, own);
  }
  return merged;
}

// The edges that lead to a node: whether each was taken, its condition, and the values that the condition read.

import { useOutputs } from '../../data/executions.ts';
import { referencedValues } from '../../model/condition-values.ts';
import { clipped } from '../../model/text.ts';
import type { ExecutionView, GraphNodeJson } from './execution-view.ts';

const WORDS = { satisfied: 'taken', unsatisfied: 'not taken', pending: 'not decided yet' } as const;

export function EdgeList({ node, view }: { readonly node: GraphNodeJson; readonly view: ExecutionView }) {
  const incoming = view.graph.edges.filter(({ to }) => to === node.id);
  if (incoming.length === 0) return null;
  return (
    <section aria-label="Comes after">
      <h3 className="heading mb-1">Comes after</h3>
      <ul className="flex flex-col gap-1 text-xs">
        {incoming.map(({ from, when, condition, state }) => (
          <li key={`${from} ${when} ${condition ?? ''}`} className="flex flex-wrap items-baseline gap-x-2">
            <button type="button" className="link" onClick={() => view.select(from)}>
              {clipped(from, 60)}
            </button>
            <span className="text-faint">{when}</span>
            <span className={state === 'satisfied' ? 'font-medium text-ok' : 'text-muted'}>{WORDS[state]}</span>
            {condition !== undefined && (
              <code className="font-mono wrap-anywhere text-muted">{clipped(condition, 300)}</code>
            )}
            {condition !== undefined && state !== 'pending' && <Values condition={condition} view={view} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Values({ condition, view: { execution } }: { readonly condition: string; readonly view: ExecutionView }) {
  const { data } = useOutputs(execution.executionId);
  if (data === undefined) return null;
  const outputs = Object.fromEntries(
    data.filter((each) => each.outputs !== undefined).map((each) => [each.nodeId, each.outputs]),
  );
  const values = referencedValues(condition, { trigger: execution.trigger, spec: execution.spec, outputs });
  return values.map(({ path, value }) => (
    <span key={path} className="basis-full pl-2 font-mono text-faint">
      {clipped(path, 80)} = <span className="text-text">{clipped(JSON.stringify(value) ?? 'nothing', 120)}</span>
    </span>
  ));
}

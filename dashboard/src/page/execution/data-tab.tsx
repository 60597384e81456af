// What went in and what came out, as a tree: a click on a key copies the expression that reads it.

import { JsonTree } from '../../component/json-tree.tsx';
import { Answered } from '../../component/state.tsx';
import { useOutputs } from '../../data/executions.ts';
import { rootOf } from '../../model/json-path.ts';
import type { ExecutionView } from './execution-view.ts';

export function DataTab({ view: { execution } }: { readonly view: ExecutionView }) {
  const { trigger, spec, outputs, contextSnapshot, format } = execution;
  return (
    <div className="flex flex-col gap-5 p-4">
      <Part title="Trigger" value={trigger} root={format === 'plan' ? 'inputs' : 'trigger'} />
      {spec !== undefined && <Part title="Spec" value={spec} root="spec" />}
      <NodeOutputs id={execution.executionId} root={rootOf(format)} />
      <Part title="Outputs of the execution" value={outputs} />
      {contextSnapshot !== undefined && <Part title="Snapshot" value={contextSnapshot} />}
    </div>
  );
}

function NodeOutputs({ id, root }: { readonly id: string; readonly root: string }) {
  const attempts = useOutputs(id);
  return (
    <Answered query={attempts} what="the outputs" rows={3}>
      {(list) => {
        const given = list.filter(({ outputs }) => outputs !== undefined);
        const byNode = Object.fromEntries(given.map(({ nodeId, outputs }) => [nodeId, outputs]));
        return <Part title="Outputs of the nodes" value={byNode} root={root} />;
      }}
    </Answered>
  );
}

function Part({ title, value, root }: { readonly title: string; readonly value: unknown; readonly root?: string }) {
  return (
    <section>
      <h3 className="heading mb-1.5">{title}</h3>
      <JsonTree value={value} label={title} {...(root === undefined ? {} : { root })} />
    </section>
  );
}

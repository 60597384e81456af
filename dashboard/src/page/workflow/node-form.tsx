// The chosen node's parameters as a form, made from its action's schema. It edits the same text as the editor.

import { X } from 'lucide-react';
import { lazy, Suspense, useMemo } from 'react';
import { IconButton } from '../../component/button.tsx';
import { Skeleton } from '../../component/state.tsx';
import { useActions } from '../../data/workflows.ts';
import type { DefinitionNode } from '../../model/definition-graph.ts';
import { withValueAt } from '../../model/json-edit.ts';
import { clipped } from '../../model/text.ts';

const SchemaForm = lazy(async () => ({ default: (await import('../../editor/schema-form.tsx')).SchemaForm }));

interface NodeFormProps {
  readonly node: DefinitionNode;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onClose: () => void;
  readonly format: string;
}

export function NodeForm({ node, text, onText, onClose, format }: NodeFormProps) {
  const actions = useActions();
  const schema = useMemo(() => actions?.find(({ id }) => id === node.type)?.parameterSchema, [actions, node.type]);
  return (
    <section
      aria-label={`Parameters of ${clipped(node.id, 60)}`}
      className="flex max-h-[60%] shrink-0 flex-col border-t"
    >
      <header className="flex items-center justify-between px-4 py-1.5">
        <h3 className="font-medium">
          {clipped(node.id, 60)} <span className="text-xs font-normal text-muted">{clipped(node.type, 80)}</span>
        </h3>
        <IconButton label="Close the form" onClick={onClose} className="-mr-2">
          <X className="size-4" aria-hidden="true" />
        </IconButton>
      </header>
      <div className="overflow-y-auto px-4 pb-3">
        {schema === undefined || format !== 'graph' ? (
          <p className="text-muted">
            {actions === undefined ? 'Loading …' : 'It has no action with a schema; change it in the text.'}
          </p>
        ) : (
          <Suspense fallback={<Skeleton rows={3} />}>
            <SchemaForm
              key={node.id}
              idPrefix={`node-${node.pointer}`}
              schema={schema as object}
              value={node.parameters ?? {}}
              onChange={(value) => onText(withValueAt(text, `${node.pointer}/parameters`, value))}
            />
          </Suspense>
        )}
      </div>
    </section>
  );
}

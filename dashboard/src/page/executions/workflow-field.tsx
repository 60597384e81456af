// The name of a workflow, with the known ones to choose from.

import { useEffect, useId, useState } from 'react';
import { useWorkflowNames } from '../../data/workflows.ts';

export function WorkflowField({
  value,
  onChange,
}: {
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}) {
  const names = useWorkflowNames();
  const [text, setText] = useState(value ?? '');
  const list = useId();
  useEffect(() => setText(value ?? ''), [value]);
  const settle = (next: string) => onChange(next.trim() === '' ? undefined : next.trim());
  return (
    <>
      <input
        className={`field w-full md:w-40 ${value === undefined ? '' : 'border-accent! text-accent'}`}
        placeholder="Workflow"
        aria-label="Workflow"
        list={list}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          if (target.value === '' || names.includes(target.value)) settle(target.value);
        }}
        onBlur={() => text !== (value ?? '') && settle(text)}
        onKeyDown={({ key }) => key === 'Enter' && settle(text)}
      />
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

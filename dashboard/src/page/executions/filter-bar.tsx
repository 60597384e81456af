// The filters of the list. Each is in the address, so that a view can be sent to somebody.

import { X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useShortcut } from '../../component/shortcut.ts';
import {
  type ExecutionFilter,
  isEmptyFilter,
  PERIOD_NAMES,
  PERIODS,
  STATUSES,
  WHYS,
} from '../../model/execution-filter.ts';
import { statusLook } from '../../model/status.ts';
import { WorkflowField } from './workflow-field.tsx';

interface FilterBarProps {
  readonly filter: ExecutionFilter;
  readonly onChange: (next: ExecutionFilter) => void;
}

const EXTRA = {
  requestId: 'Request',
  triggerId: 'Trigger',
  parentExecutionId: 'Parent',
  environmentId: 'Environment',
  olderThan: 'Older than',
  format: 'Format',
  version: 'Version',
} as const;

export function FilterBar({ filter, onChange }: FilterBarProps) {
  const set = (change: Partial<ExecutionFilter>) => onChange({ ...filter, ...change });
  const extras = Object.entries(EXTRA).filter(([name]) => filter[name as keyof typeof EXTRA] !== undefined);
  return (
    <search className="grid grid-cols-2 items-center gap-2 md:flex md:flex-wrap" aria-label="Filters">
      <Choice
        label="Why"
        any="Any reason"
        value={filter.why}
        onChange={(why) => set({ why })}
        options={WHYS.map((each) => [each, statusLook(each).word])}
      />
      <Choice
        label="Status"
        any="Any status"
        value={filter.status?.join(',')}
        onChange={(status) => set({ status: status?.split(',') })}
        options={[
          ...STATUSES.map((each) => [each, statusLook(each).word] as const),
          ['Failed,TimedOut', 'Failed or timed out'],
          ['Pending,Running,Paused', 'Live'],
        ]}
      />
      <WorkflowField value={filter.workflowId} onChange={(workflowId) => set({ workflowId })} />
      <Choice
        label="Created"
        any="Any time"
        value={filter.since}
        onChange={(since) => set({ since })}
        options={Object.keys(PERIODS).map((each) => [each, PERIOD_NAMES[each]!])}
      />
      <ErrorField value={filter.error} onChange={(error) => set({ error })} />
      {extras.map(([name, label]) => (
        <Button
          key={name}
          small
          onClick={() => set({ [name]: undefined })}
          icon={<X className="size-3" aria-hidden="true" />}
          title={`Remove the filter ${label}`}
        >
          {label}: {String(filter[name as keyof typeof EXTRA]).slice(0, 40)}
        </Button>
      ))}
      {!isEmptyFilter(filter) && (
        <Button kind="quiet" small onClick={() => onChange({})}>
          Clear
        </Button>
      )}
    </search>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly any: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly options: readonly (readonly [value: string, text: string])[];
}

function Choice({ label, any, value, onChange, options }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
      className={`field ${value === undefined ? 'text-muted' : 'border-accent! text-accent'}`}
    >
      <option value="">{any}</option>
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}

const PAUSE_MS = 300;

function ErrorField({
  value,
  onChange,
}: {
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}) {
  const [text, setText] = useState(value ?? '');
  const field = useRef<HTMLInputElement>(null);
  useShortcut('/', () => field.current?.focus());
  useEffect(() => setText(value ?? ''), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was typed starts the timer
  useEffect(() => {
    if (text === (value ?? '')) return;
    const timer = setTimeout(() => onChange(text === '' ? undefined : text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      ref={field}
      type="search"
      className="field w-full md:w-44"
      placeholder="Error contains…"
      aria-label="Error contains"
      value={text}
      maxLength={200}
      onChange={({ target }) => setText(target.value)}
    />
  );
}

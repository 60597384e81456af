// Fix and continue: the node's parameters, as its action's schema has them; tried again as they are, changed for this try, or
// from now on; with what will run again before anything is sent. The ids of the signals are fixed for the dialog, so a second
// click does nothing. The same can be done for other executions that failed there with the same code.

import { lazy, Suspense, useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Dialog } from '../../component/dialog.tsx';
import { Answered, Skeleton } from '../../component/state.tsx';
import { say } from '../../component/toast.tsx';
import { signalExecution, useFailedAlike, useNodeDetail } from '../../data/executions.ts';
import { useRoleRefusal } from '../../data/session-query.ts';
import { useActions } from '../../data/workflows.ts';
import { previewOf } from '../../model/journal.ts';
import { clipped, plural } from '../../model/text.ts';
import type { ExecutionView, GraphNodeJson } from './execution-view.ts';

const SchemaForm = lazy(async () => ({ default: (await import('../../editor/schema-form.tsx')).SchemaForm }));

const MODES = [
  ['retry', 'As it is', null],
  ['once', 'Changed, for this try', 'INJECT_OVERRIDE'],
  ['always', 'Changed, from now on', 'UPDATE_PARAMS'],
] as const;
type Mode = (typeof MODES)[number][0];

interface FixDialogProps {
  readonly node: GraphNodeJson;
  readonly view: ExecutionView;
  readonly signal: 'RETRY_STEP' | 'RERUN_FROM';
  readonly onClose: () => void;
}

export function FixDialog({ node, view, signal, onClose }: FixDialogProps) {
  const { executionId } = view.execution;
  const detail = useNodeDetail(executionId, node.id, false);
  const command = useCommand(['execution', executionId]);
  const [idOf] = useState(() => fixedIds());
  const [isForOthers, setForOthers] = useState(false);
  const [mode, setMode] = useState<Mode>('retry');
  const [parameters, setParameters] = useState<unknown>(undefined);
  const admin = useRoleRefusal('INJECT_OVERRIDE');
  const given = detail.data?.attempts.at(-1)?.parameters;
  const changed = (parameters ?? given ?? {}) as Record<string, never>;
  const payload = { stepId: node.id, ...(signal === 'RETRY_STEP' ? { force: true as const } : {}) };
  const preview = previewOf(view.journal, { signal, payload }, Date.now());
  const isEnded = view.execution.status === 'Failed' || view.execution.status === 'TimedOut';
  const failure = node.error === undefined || !isEnded ? undefined : { nodeId: node.id, code: node.error.code };
  const others = useFailedAlike(view.execution, signal === 'RETRY_STEP' ? failure : undefined);
  const fix = async (id: string) => {
    const first = { signalId: idOf(`${id} first`) };
    if (mode === 'once') {
      const override = { stepId: node.id, override: changed };
      await signalExecution(id, { ...first, type: 'INJECT_OVERRIDE', payload: override });
    }
    if (mode === 'always') {
      const change = { stepId: node.id, newParams: changed };
      await signalExecution(id, { ...first, type: 'UPDATE_PARAMS', payload: change });
    }
    return signalExecution(id, { signalId: idOf(id), type: signal, payload } as never);
  };
  const go = async () => {
    const done = await command(signal === 'RETRY_STEP' ? 'Retry' : 'Rerun', () => fix(executionId));
    if (done === undefined) return;
    onClose();
    if (!isForOthers) return;
    const answers = await Promise.allSettled(others.map(fix));
    const accepted = answers.filter(({ status }) => status === 'fulfilled').length;
    say(`The same for others: accepted for ${accepted} of ${others.length}`);
  };
  return (
    <Dialog
      wide
      isOpen
      onClose={onClose}
      title={`${signal === 'RETRY_STEP' ? 'Fix and continue' : 'Rerun from'} ${clipped(node.id, 60)}`}
      description={node.error === undefined ? undefined : `${node.error.code}: ${clipped(node.error.message, 300)}`}
      actions={
        <Button kind="primary" reason={preview.refused ?? (mode === 'retry' ? null : admin)} onClick={() => void go()}>
          {signal === 'RETRY_STEP' ? 'Retry and continue' : 'Rerun'}
        </Button>
      }
    >
      <fieldset className="flex flex-wrap gap-x-5 gap-y-1">
        <legend className="sr-only">Input</legend>
        {MODES.map(([id, label]) => (
          <label key={id} className="flex items-center gap-1.5">
            <input
              type="radio"
              name="mode"
              checked={mode === id}
              onChange={() => setMode(id)}
              className="accent-accent-solid"
            />
            {label}
          </label>
        ))}
      </fieldset>
      {mode !== 'retry' && (
        <Answered query={detail} what="the input">
          {() => <Parameters type={node.type} value={changed} onChange={setParameters} />}
        </Answered>
      )}
      {others.length > 0 && (
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={isForOthers}
            onChange={({ target }) => setForOthers(target.checked)}
            className="accent-accent-solid"
          />
          The same for {plural(others.length, 'other')} that failed at {clipped(node.id, 40)} with {failure!.code}
        </label>
      )}
      <p className="rounded-md bg-sunken px-3 py-2" data-preview="">
        <span className="text-muted">Runs again: </span>
        <b>{preview.again.map((id) => clipped(id, 40)).join(', ') || 'nothing'}</b>
        <span className="text-muted">. Kept: </span>
        {preview.kept.map((id) => clipped(id, 40)).join(', ') || 'nothing'}.
      </p>
    </Dialog>
  );
}

/** An id for each name, the same one whenever it is asked for: a second click sends what was sent before. */
function fixedIds(): (name: string) => string {
  const ids = new Map<string, string>();
  return (name) => {
    const id = ids.get(name) ?? crypto.randomUUID();
    ids.set(name, id);
    return id;
  };
}

function Parameters({
  type,
  value,
  onChange,
}: {
  readonly type: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const schema = useActions()?.find(({ id }) => id === type)?.parameterSchema as object | undefined;
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [asForm, setAsForm] = useState(false);
  return (
    <div className="flex flex-col gap-2">
      {schema !== undefined && (
        <Button small kind="quiet" className="self-start" onClick={() => setAsForm(!asForm)}>
          {asForm ? 'As JSON' : 'As a form'}
        </Button>
      )}
      {asForm && schema !== undefined ? (
        <Suspense fallback={<Skeleton rows={3} />}>
          <SchemaForm idPrefix="fix" schema={schema} value={value} onChange={onChange} />
        </Suspense>
      ) : (
        <label className="flex flex-col gap-1">
          <span className="text-muted">Input, as JSON</span>
          <textarea
            className="field font-mono text-xs"
            rows={10}
            spellCheck={false}
            value={text}
            onChange={({ target }) => {
              setText(target.value);
              try {
                onChange(JSON.parse(target.value));
              } catch {
                // Not finished yet: the last text that was JSON counts.
              }
            }}
          />
        </label>
      )}
    </div>
  );
}

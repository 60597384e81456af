// Fix and continue: the node's input, to change or not, as JSON or as a form of its action's schema. A change is for this try or from
// now on. The dialog says which nodes run again before anything is sent. The ids of the signals are fixed for the dialog, so a
// second click does nothing. The same can be done for other executions that failed there with the same code.

import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Dialog } from '../../component/dialog.tsx';
import { Answered, Skeleton } from '../../component/state.tsx';
import { say } from '../../component/toast.tsx';
import { signalExecution } from '../../data/execution-command.ts';
import { useFailedAlike, useNodeDetail } from '../../data/executions.ts';
import { useRoleRefusal } from '../../data/session-query.ts';
import { useActions } from '../../data/workflows.ts';
import { inputChange } from '../../model/changed-field.ts';
import { type Preview, previewOf, refusalOfSignal } from '../../model/journal.ts';
import { clipped, plural } from '../../model/text.ts';
import type { ExecutionView, GraphNodeJson } from './execution-view.ts';

const SchemaForm = lazy(async () => ({ default: (await import('../../editor/schema-form.tsx')).SchemaForm }));

const MODES = [
  ['once', 'For this try only'],
  ['always', 'From now on in this execution'],
] as const;
type Mode = (typeof MODES)[number][0];

interface FixDialogProps {
  readonly node: GraphNodeJson;
  readonly view: ExecutionView;
  readonly signal: 'RETRY_STEP' | 'RERUN_FROM';
  readonly onClose: () => void;
}

export function FixDialog({ node, view, signal: asked, onClose }: FixDialogProps) {
  const { executionId } = view.execution;
  const detail = useNodeDetail(executionId, node.id, false);
  const given = detail.data?.attempts.at(-1)?.parameters as Record<string, unknown> | undefined;
  const command = useCommand(['execution', executionId]);
  const [idOf] = useState(() => fixedIds());
  const [isForOthers, setForOthers] = useState(false);
  const [mode, setMode] = useState<Mode>('once');
  const [text, setText] = useState<string | null>(null);
  const { changed, refused } = inputChange(given ?? {}, text ?? JSON.stringify(given ?? {}));
  const isChanged = Object.keys(changed).length > 0;
  const [signal, setSignal] = useState(asked);
  const admin = useRoleRefusal('INJECT_OVERRIDE');
  const payload = signal === 'RETRY_STEP' ? { stepId: node.id, force: true as const } : { stepId: node.id };
  const preview = previewOf(view.journal, { signal, payload }, Date.now());
  const isEnded = view.execution.status === 'Failed' || view.execution.status === 'TimedOut';
  const failure = node.error === undefined || !isEnded ? undefined : { nodeId: node.id, code: node.error.code };
  const others = useFailedAlike(view.execution, asked === 'RETRY_STEP' ? failure : undefined);
  const fix = async (id: string) => {
    const signalId = idOf(`${id} input`);
    if (isChanged && mode === 'once') {
      const override = { stepId: node.id, override: changed };
      await signalExecution(id, { signalId, type: 'INJECT_OVERRIDE', payload: override });
    }
    if (isChanged && mode === 'always') {
      const change = { stepId: node.id, newParams: changed };
      await signalExecution(id, { signalId, type: 'UPDATE_PARAMS', payload: change });
    }
    return signalExecution(id, { signalId: idOf(`${id} ${signal}`), type: signal, payload } as never);
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
      title={`${asked === 'RETRY_STEP' ? 'Fix and continue' : 'Rerun from'} ${clipped(node.id, 60)}`}
      description={node.error === undefined ? undefined : `${node.error.code}: ${clipped(node.error.message, 300)}`}
      actions={
        <Button
          kind="primary"
          reason={preview.refused ?? refused ?? (isChanged ? admin : null)}
          onClick={() => void go()}
        >
          {buttonText(signal, isChanged)}
        </Button>
      }
    >
      <Answered query={detail} what="the input">
        {() => <Parameters type={node.type} text={text ?? JSON.stringify(given ?? {}, null, 2)} onChange={setText} />}
      </Answered>
      {isChanged && <ModeChoice mode={mode} onChange={setMode} changed={Object.keys(changed)} />}
      {others.length > 0 && (
        <Check isOn={isForOthers} onChange={setForOthers}>
          The same for {plural(others.length, 'other')} that failed at {clipped(node.id, 40)} with {failure!.code}
        </Check>
      )}
      {asked === 'RETRY_STEP' && refusalOfSignal(view.journal, { signal: 'RERUN_FROM', payload }) === null && (
        <Check isOn={signal === 'RERUN_FROM'} onChange={(isOn) => setSignal(isOn ? 'RERUN_FROM' : 'RETRY_STEP')}>
          Everything after {clipped(node.id, 40)} runs again too
        </Check>
      )}
      <PreviewText preview={preview} />
    </Dialog>
  );
}

function buttonText(signal: FixDialogProps['signal'], isChanged: boolean): string {
  const verb = signal === 'RETRY_STEP' ? 'Retry and continue' : 'Rerun';
  return isChanged ? `${verb} with changes` : verb;
}

function Check({
  isOn,
  onChange,
  children,
}: {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly children: ReactNode;
}) {
  return (
    <label className="flex items-center gap-2">
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ target }) => onChange(target.checked)}
        className="accent-accent-solid"
      />
      <span>{children}</span>
    </label>
  );
}

function PreviewText({ preview: { again, kept, failed } }: { readonly preview: Preview }) {
  const names = (ids: readonly string[]) => ids.map((id) => clipped(id, 40)).join(', ') || 'nothing';
  return (
    <div className="flex flex-col gap-0.5 rounded-md bg-sunken px-3 py-2" data-preview="">
      <p>
        <span className="text-muted">Runs again: </span>
        <b>{names(again)}</b>
      </p>
      <p>
        <span className="text-muted">Kept: </span>
        {names(kept)}
      </p>
      {failed.length > 0 && <p className="text-warn">Stays failed: {names(failed)}</p>}
    </div>
  );
}

function ModeChoice({
  mode,
  onChange,
  changed,
}: {
  readonly mode: Mode;
  readonly onChange: (mode: Mode) => void;
  readonly changed: readonly string[];
}) {
  return (
    <fieldset className="flex flex-wrap gap-x-5 gap-y-1">
      <legend className="mb-1 text-muted">Changed: {changed.map((name) => clipped(name, 40)).join(', ')}</legend>
      {MODES.map(([id, label]) => (
        <label key={id} className="flex items-center gap-1.5">
          <input
            type="radio"
            name="mode"
            checked={mode === id}
            onChange={() => onChange(id)}
            className="accent-accent-solid"
          />
          {label}
        </label>
      ))}
    </fieldset>
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
  text,
  onChange,
}: {
  readonly type: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}) {
  const schema = useActions()?.find(({ id }) => id === type)?.parameterSchema as object | undefined;
  const [asForm, setAsForm] = useState(false);
  const value = asForm ? parsed(text) : undefined;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-center justify-between">
        <span className="text-muted">Input</span>
        {schema !== undefined && (
          <Button small kind="quiet" onClick={() => setAsForm(!asForm)}>
            {asForm ? 'As JSON' : 'As a form'}
          </Button>
        )}
      </div>
      {value !== undefined && schema !== undefined ? (
        <Suspense fallback={<Skeleton rows={3} />}>
          <SchemaForm
            idPrefix="fix"
            schema={schema}
            value={value}
            onChange={(next) => onChange(JSON.stringify(next, null, 2))}
          />
        </Suspense>
      ) : (
        <textarea
          aria-label="Input, as JSON"
          className="field font-mono text-xs"
          rows={10}
          spellCheck={false}
          value={text}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </div>
  );
}

/** A text that is not JSON is shown as text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// What may be done with the chosen node. What the engine would refuse says why, in the engine's own words.

import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { useCopy } from '../../component/copy.tsx';
import { Dialog } from '../../component/dialog.tsx';
import { signalExecution } from '../../data/execution-command.ts';
import { useNodeDetail } from '../../data/executions.ts';
import { useRoleRefusal } from '../../data/session-query.ts';
import { curlOf } from '../../model/curl.ts';
import { refusalOfSignal } from '../../model/journal.ts';
import { clipped } from '../../model/text.ts';
import { ContinueWait } from './continue-wait.tsx';
import type { ExecutionView, GraphNodeJson } from './execution-view.ts';
import { FixDialog } from './fix-dialog.tsx';

export function NodeActions({ node, view }: { readonly node: GraphNodeJson; readonly view: ExecutionView }) {
  const [open, setOpen] = useState<'fix' | 'rerun' | 'complete' | null>(null);
  const engineer = useRoleRefusal('RETRY_STEP');
  const refused = (signal: 'RETRY_STEP' | 'RERUN_FROM' | 'COMPLETE_STEP') =>
    refusalOfSignal(view.journal, { signal, payload: { stepId: node.id, force: true, outputs: {} } });
  const retryRefusal = engineer ?? refused('RETRY_STEP');
  const isFailed =
    node.status === 'Failed' || node.status === 'TimedOut' || node.status === 'Cancelled' || node.status === 'Retrying';
  return (
    <div className="flex flex-wrap gap-2">
      {isFailed && (
        <Button small kind="primary" reason={retryRefusal} onClick={() => setOpen('fix')}>
          Edit input and retry
        </Button>
      )}
      {node.status === 'Waiting' && <ContinueWait node={node} view={view} />}
      <Button small reason={engineer ?? refused('RERUN_FROM')} onClick={() => setOpen('rerun')}>
        Rerun from here
      </Button>
      {isFailed && (
        <Button small reason={engineer ?? refused('COMPLETE_STEP')} onClick={() => setOpen('complete')}>
          Complete by hand
        </Button>
      )}
      <CurlButton node={node} view={view} />
      {open === 'fix' && <FixDialog node={node} view={view} signal="RETRY_STEP" onClose={() => setOpen(null)} />}
      {open === 'rerun' && <FixDialog node={node} view={view} signal="RERUN_FROM" onClose={() => setOpen(null)} />}
      {open === 'complete' && <CompleteDialog node={node} view={view} onClose={() => setOpen(null)} />}
    </div>
  );
}

function CurlButton({ node, view }: { readonly node: GraphNodeJson; readonly view: ExecutionView }) {
  const { data } = useNodeDetail(view.execution.executionId, node.id, false);
  const [isCopied, copy] = useCopy();
  const curl = curlOf(data?.attempts.at(-1)?.parameters);
  if (curl === null) return null;
  return (
    <Button small onClick={() => copy(curl)}>
      {isCopied ? 'Copied' : 'Copy as curl'}
    </Button>
  );
}

function CompleteDialog({
  node,
  view,
  onClose,
}: {
  readonly node: GraphNodeJson;
  readonly view: ExecutionView;
  readonly onClose: () => void;
}) {
  const { executionId } = view.execution;
  const command = useCommand(['execution', executionId]);
  const [signalId] = useState(() => crypto.randomUUID());
  const [text, setText] = useState('{}');
  const run = async () => {
    const done = await command('Complete', async () => {
      const outputs = JSON.parse(text) as Record<string, never>;
      return signalExecution(executionId, { signalId, type: 'COMPLETE_STEP', payload: { stepId: node.id, outputs } });
    });
    if (done !== undefined) onClose();
  };
  return (
    <Dialog
      title={`Complete ${clipped(node.id, 60)} by hand`}
      description="The engine goes on as if the node had succeeded with these outputs."
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={() => void run()}>
          Complete it
        </Button>
      }
    >
      <label className="flex flex-col gap-1">
        <span className="text-muted">Outputs, as JSON</span>
        <textarea
          className="field font-mono text-xs"
          rows={6}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
    </Dialog>
  );
}

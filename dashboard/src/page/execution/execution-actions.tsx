// What may be done with an execution. What cannot be done now says why: the state, the scope or the role.

import { useNavigate } from '@tanstack/react-router';
import { Ban, BellRing, Copy, Ellipsis, Pause, PenLine, Play, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Dialog } from '../../component/dialog.tsx';
import { Menu, type MenuEntry } from '../../component/menu.tsx';
import { cancelExecution, retryExecution, signalExecution } from '../../data/execution-command.ts';
import { useRefusal, useRoleRefusal } from '../../data/session-query.ts';
import { startWorkflow } from '../../data/workflows.ts';
import { refusalOf } from '../../model/allowed-action.ts';
import { refusalOfSignal } from '../../model/journal.ts';
import { type ExecutionView, failedNodes } from './execution-view.ts';
import { FixDialog } from './fix-dialog.tsx';

export function ExecutionActions({ view }: { readonly view: ExecutionView }) {
  const { executionId, status } = view.execution;
  const command = useCommand(['execution', executionId], ['executions']);
  const [open, setOpen] = useState<'cancel' | 'fix' | null>(null);
  const signal = useRefusal('executions:signal');
  const execute = useRefusal('workflows:execute');
  const engineer = useRoleRefusal('RETRY_STEP');
  const allFailed = failedNodes(view);
  // The node that the banner names, which ended the execution, comes before those that other nodes handled.
  const failed = allFailed.find(({ id }) => id === view.execution.error?.nodeId) ?? allFailed[0];
  const fixRefusal =
    failed === undefined
      ? 'Nothing failed'
      : refusalOfSignal(view.journal, { signal: 'RETRY_STEP', payload: { stepId: failed.id, force: true } });
  return (
    <>
      {failed !== undefined && (
        <Button kind="primary" reason={engineer ?? fixRefusal} onClick={() => setOpen('fix')}>
          Fix and continue
        </Button>
      )}
      <Button
        icon={<RotateCw className="size-3.5 max-sm:hidden" aria-hidden="true" />}
        reason={signal ?? refusalOf('retry', { status })}
        onClick={() => void command('Retry', () => retryExecution(executionId))}
      >
        Retry
      </Button>
      <Button
        icon={<Ban className="size-3.5 max-sm:hidden" aria-hidden="true" />}
        reason={execute ?? refusalOf('cancel', { status })}
        onClick={() => setOpen('cancel')}
      >
        Cancel
      </Button>
      <MoreActions view={view} />
      {open === 'cancel' && (
        <CancelDialog
          onClose={() => setOpen(null)}
          onCancel={(reason) => void command('Cancel', () => cancelExecution(executionId, reason))}
        />
      )}
      {open === 'fix' && failed !== undefined && (
        <FixDialog node={failed} view={view} signal="RETRY_STEP" onClose={() => setOpen(null)} />
      )}
    </>
  );
}

function MoreActions({ view }: { readonly view: ExecutionView }) {
  const { executionId, status, workflowId, trigger } = view.execution;
  const navigate = useNavigate();
  const command = useCommand(['execution', executionId]);
  const operator = useRoleRefusal('PAUSE');
  const alert = useRoleRefusal('ESCALATE_ALERT');
  const execute = useRefusal('workflows:execute');
  const send = (what: string, type: 'PAUSE' | 'RESUME') =>
    void command(what, () => signalExecution(executionId, { type, payload: {} }));
  const duplicate = async () => {
    const made = await command('Duplicate', () => startWorkflow(workflowId, trigger, crypto.randomUUID()));
    if (made !== undefined) await navigate({ to: '/executions/$executionId', params: { executionId: made } });
  };
  const escalate = () =>
    void command('Escalate', () =>
      signalExecution(executionId, { type: 'ESCALATE_ALERT', payload: { level: 'HIGH' } }),
    );
  const entries: (MenuEntry | 'line')[] = [
    {
      label: 'Pause',
      icon: <Pause className="size-3.5" />,
      reason: operator ?? refusalOf('pause', { status }),
      onSelect: () => send('Pause', 'PAUSE'),
    },
    {
      label: 'Resume',
      icon: <Play className="size-3.5" />,
      reason: operator ?? refusalOf('resume', { status }),
      onSelect: () => send('Resume', 'RESUME'),
    },
    {
      label: 'Escalate',
      icon: <BellRing className="size-3.5" />,
      reason: alert ?? refusalOf('cancel', { status }),
      onSelect: escalate,
    },
    'line',
    {
      label: 'Run again with this trigger, newest version',
      icon: <Copy className="size-3.5" />,
      reason: execute,
      onSelect: () => void duplicate(),
    },
    {
      label: 'Open the workflow in the editor',
      icon: <PenLine className="size-3.5" />,
      onSelect: () => void navigate({ to: '/workflows/$workflowId', params: { workflowId } }),
    },
  ];
  return (
    <Menu
      trigger={
        <Button aria-label="More actions">
          <Ellipsis className="size-4" aria-hidden="true" />
        </Button>
      }
      entries={entries}
    />
  );
}

function CancelDialog({
  onClose,
  onCancel,
}: {
  readonly onClose: () => void;
  readonly onCancel: (reason: string) => void;
}) {
  const [reason, setReason] = useState('');
  return (
    <Dialog
      title="Cancel this execution?"
      description="What is in flight is told to stop; what never started is skipped. This cannot be undone."
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button
            kind="danger"
            onClick={() => {
              onCancel(reason.trim());
              onClose();
            }}
          >
            Cancel the execution
          </Button>
        </>
      }
    >
      <label className="flex flex-col gap-1">
        <span className="text-muted">Reason, for the record</span>
        <input className="field" value={reason} maxLength={500} onChange={({ target }) => setReason(target.value)} />
      </label>
    </Dialog>
  );
}

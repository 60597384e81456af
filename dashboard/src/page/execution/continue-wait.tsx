// A node that waits for a callback is continued by hand, with a payload.

import { useState } from 'react';
import { isCallback } from '../../../../src/protocol/step-text.ts';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { ContinueDialog } from '../../component/continue-dialog.tsx';
import { continueWait } from '../../data/execution-command.ts';
import { useRefusal } from '../../data/session-query.ts';
import { clipped } from '../../model/text.ts';
import type { ExecutionView, GraphNodeJson } from './execution-view.ts';

export function ContinueWait({ node, view }: { readonly node: GraphNodeJson; readonly view: ExecutionView }) {
  const refused = useRefusal('executions:signal');
  const [isOpen, setOpen] = useState(false);
  const { executionId } = view.execution;
  const command = useCommand(['execution', executionId], ['waits']);
  const step = view.journal.plan.nodes.find(({ id }) => id === node.id)?.step;
  if (!isCallback(step)) return null;
  const run = async (payload: unknown) =>
    (await command('Continue', () => continueWait(executionId, node.id, payload))) !== undefined;
  return (
    <>
      <Button small kind="primary" reason={refused} onClick={() => setOpen(true)}>
        Continue…
      </Button>
      {isOpen && <ContinueDialog what={clipped(node.id, 60)} onContinue={run} onClose={() => setOpen(false)} />}
    </>
  );
}

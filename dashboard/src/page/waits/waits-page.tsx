// Waits: the inbox of callbacks that have not come. Each can be continued by hand.

import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { ContinueDialog } from '../../component/continue-dialog.tsx';
import { Page } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { continueWait } from '../../data/execution-command.ts';
import { useRefusal } from '../../data/session-query.ts';
import { useWaits } from '../../data/waits.ts';
import { clipped, shortId } from '../../model/text.ts';

export function WaitsPage() {
  const { workflowId } = useSearch({ strict: false }) as { workflowId?: string };
  const waits = useWaits(workflowId);
  const refused = useRefusal('executions:signal');
  const command = useCommand(['waits']);
  const [chosen, setChosen] = useState<{ readonly executionId: string; readonly nodeId: string } | null>(null);
  return (
    <Page
      title="Waits"
      detail="Executions that wait until somebody calls back: an approval, a payment, another system."
    >
      <Answered query={waits} what="the waits">
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          if (rows.length === 0)
            return <Empty title="Nobody waits">A node that waits for a callback stands here until it comes.</Empty>;
          return (
            <>
              <Table label="Waits" columns={['Waits at', 'Execution', 'Since', 'Until', '']}>
                {rows.map((wait) => (
                  <Row key={`${wait.executionId} ${wait.nodeId}`}>
                    <Cell isMain>
                      <Link
                        to="/executions/$executionId"
                        params={{ executionId: wait.executionId }}
                        search={{ node: wait.nodeId }}
                        className="font-medium hover:text-accent"
                      >
                        {clipped(wait.nodeId, 80)}
                      </Link>
                      <span className="block text-xs text-muted">
                        {clipped(wait.workflowId, 60)} v{wait.version}
                      </span>
                    </Cell>
                    <Cell label="Execution">
                      <span className="font-mono text-xs text-muted">{shortId(wait.executionId)}</span>
                    </Cell>
                    <Cell label="Since">
                      <Time at={wait.since} />
                    </Cell>
                    <Cell label="Until">
                      <Time at={wait.until} />
                    </Cell>
                    <Cell>
                      <Button small reason={refused} onClick={() => setChosen(wait)}>
                        Continue…
                      </Button>
                    </Cell>
                  </Row>
                ))}
              </Table>
              {waits.hasNextPage && <Button onClick={() => void waits.fetchNextPage()}>More</Button>}
            </>
          );
        }}
      </Answered>
      {chosen !== null && (
        <ContinueDialog
          what={clipped(chosen.nodeId, 60)}
          onClose={() => setChosen(null)}
          onContinue={async (payload) =>
            (await command('Continue', () => continueWait(chosen.executionId, chosen.nodeId, payload))) !== undefined
          }
        />
      )}
    </Page>
  );
}

// The executions of this workflow, each with a strip that tells how its nodes ended.

import { Link } from '@tanstack/react-router';
import { Answered, Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time, Took } from '../../component/time.tsx';
import { useWorkflowExecutions } from '../../data/executions.ts';
import { stripOf } from '../../model/node-strip.ts';
import { executionLook, type Tone } from '../../model/status.ts';
import { clipped, shortId } from '../../model/text.ts';
import type { WorkflowItem } from '../../model/workflow-item.ts';

export function ExecutionsTab({ item }: { readonly item: WorkflowItem }) {
  const list = useWorkflowExecutions(item.id);
  return (
    <Answered query={list} what="the executions">
      {(rows) => {
        if (rows.length === 0) {
          return <Empty title="It has not run yet">Run it from here, or by a trigger.</Empty>;
        }
        return (
          <div className="flex flex-col gap-3">
            <Table label="Executions" columns={['Execution', 'Status', 'Nodes', 'Version', 'Created', 'Took', 'Error']}>
              {rows.map((execution) => (
                <Row key={execution.executionId}>
                  <Cell isMain>
                    <Link
                      to="/executions/$executionId"
                      params={{ executionId: execution.executionId }}
                      className="font-mono text-xs hover:text-accent"
                    >
                      {shortId(execution.executionId)}
                    </Link>
                  </Cell>
                  <Cell>
                    <Status look={executionLook(execution, execution.failedNodes)} />
                  </Cell>
                  <Cell label="Nodes">
                    <NodeStrip counts={execution.nodes} />
                  </Cell>
                  <Cell label="Version">v{execution.version}</Cell>
                  <Cell>
                    <Time at={execution.createdAt} />
                  </Cell>
                  <Cell>
                    <Took from={execution.startedAt} to={execution.completedAt} />
                  </Cell>
                  <Cell>
                    {execution.error !== undefined && (
                      <span className="text-muted">
                        {clipped(`${execution.error.code}: ${execution.error.message}`, 100)}
                      </span>
                    )}
                  </Cell>
                </Row>
              ))}
            </Table>
            <Link to="/executions" search={{ workflowId: item.id }} className="link">
              All of them, with filters
            </Link>
          </div>
        );
      }}
    </Answered>
  );
}

const TONES: Readonly<Record<Tone, string>> = {
  ok: 'bg-ok-solid',
  bad: 'bg-bad-solid',
  warn: 'bg-warn-solid',
  run: 'bg-run-solid',
  wait: 'bg-wait-solid',
  idle: 'bg-idle-solid/40',
};

function NodeStrip({ counts }: { readonly counts: Readonly<Record<string, number>> | undefined }) {
  const { parts, text } = stripOf(counts ?? {});
  if (parts.length === 0) return <span className="text-faint">–</span>;
  return (
    <span className="flex h-2.5 w-28 gap-px overflow-hidden rounded-xs" role="img" aria-label={text} title={text}>
      {parts.map(({ status, tone, share }) => (
        <span key={status} className={TONES[tone]} style={{ width: `${share}%`, minWidth: 3 }} />
      ))}
    </span>
  );
}

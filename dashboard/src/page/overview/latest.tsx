// The newest executions, whatever became of them: the first look of somebody who has just started something.

import { Link } from '@tanstack/react-router';
import { Panel } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Time } from '../../component/time.tsx';
import { useLatestExecutions } from '../../data/executions.ts';
import { executionLook } from '../../model/status.ts';
import { clipped } from '../../model/text.ts';

export function Latest() {
  const latest = useLatestExecutions();
  return (
    <Panel
      title="Latest executions"
      actions={
        <Link to="/executions" className="link text-xs">
          All executions
        </Link>
      }
    >
      <Answered query={latest} what="the latest executions">
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Nothing has run yet">Start a workflow, and its executions stand here.</Empty>
          ) : (
            <ul className="divide-y">
              {rows.map((row) => (
                <li key={row.executionId} className="flex items-center gap-3 px-4 py-2">
                  <span className="flex w-28 shrink-0">
                    <Status look={executionLook(row, row.failedNodes)} as="line" />
                  </span>
                  <Link
                    to="/executions/$executionId"
                    params={{ executionId: row.executionId }}
                    className="min-w-0 truncate font-medium hover:text-accent"
                  >
                    {clipped(row.workflowId, 60)}
                  </Link>
                  <span className="min-w-0 flex-1 truncate text-xs text-muted max-sm:hidden">
                    {row.error === undefined ? null : `${row.error.code} ${clipped(row.error.message, 120)}`}
                  </span>
                  <span className="ml-auto shrink-0 text-right text-xs text-muted">
                    <Time at={row.createdAt} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Panel>
  );
}

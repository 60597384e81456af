// Failures by cause: how often, since when, a sample, and a way to retry them all.

import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { BulkDialog } from '../../component/bulk-dialog.tsx';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Page } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { countBulk, orderBulk } from '../../data/bulk.ts';
import { useRefusal } from '../../data/session-query.ts';
import { type FailureGroup, useFailures } from '../../data/statistics.ts';
import { filterOfFailure, PERIOD_NAMES, PERIODS, searchOfFilter } from '../../model/execution-filter.ts';
import { clipped, countText } from '../../model/text.ts';

export function FailuresPage() {
  const search = useSearch({ strict: false }) as { since?: string; workflowId?: string; retry?: string };
  const since = search.since !== undefined && Object.hasOwn(PERIODS, search.since) ? search.since : '24h';
  const failures = useFailures(since, search.workflowId);
  const navigate = useNavigate();
  const command = useCommand(['failures']);
  const refused = useRefusal('executions:signal');
  const chosen = failures.data?.find(({ fingerprint }) => fingerprint === search.retry) ?? null;
  const choose = (group: FailureGroup | null) =>
    void navigate({ to: '.', search: { ...search, retry: group?.fingerprint }, replace: true });
  const order = async (requestId: string, reason: string) => {
    const made = await command('Retry all', () =>
      orderBulk(requestId, 'retry', { filter: filterOfFailure(chosen!, since) }, reason),
    );
    if (made?.bulkId !== undefined) await navigate({ to: '/bulk/$bulkId', params: { bulkId: made.bulkId } });
    return made !== undefined;
  };
  return (
    <Page
      title="Failures"
      detail="By cause: the same workflow, node, code and message."
      actions={
        <select
          className="field"
          aria-label="Since"
          value={since}
          onChange={({ target }) =>
            void navigate({ to: '.', search: { ...search, since: target.value }, replace: true })
          }
        >
          {Object.keys(PERIODS).map((each) => (
            <option key={each} value={each}>
              {PERIOD_NAMES[each]}
            </option>
          ))}
        </select>
      }
    >
      <Answered query={failures} what="the failures">
        {(list) =>
          list.length === 0 ? (
            <Empty title="Nothing has failed">Causes stand here a few seconds after an execution has failed.</Empty>
          ) : (
            <Table label="Failures" columns={['Cause', 'Where', 'Times', 'First', 'Last', '']}>
              {list.map((group) => (
                <Row key={group.fingerprint}>
                  <Cell isMain>
                    <Link
                      to="/executions/$executionId"
                      params={{ executionId: group.sampleId }}
                      className="font-medium hover:text-accent"
                    >
                      {group.code}
                    </Link>
                    <span className="block max-w-xl truncate text-xs text-muted">{clipped(group.message, 300)}</span>
                  </Cell>
                  <Cell label="Where">
                    {clipped(group.workflowId, 40)}
                    {group.nodeId !== undefined && <span className="text-muted"> / {clipped(group.nodeId, 40)}</span>}
                  </Cell>
                  <Cell label="Times">
                    <Link
                      to="/executions"
                      search={searchOfFilter(filterOfFailure(group, since))}
                      className="link tabular underline decoration-dotted underline-offset-4"
                    >
                      {countText(group.count)}
                    </Link>
                  </Cell>
                  <Cell label="First">
                    <Time at={group.firstAt} />
                  </Cell>
                  <Cell label="Last">
                    <Time at={group.lastAt} />
                  </Cell>
                  <Cell>
                    <Button small reason={refused} onClick={() => choose(group)}>
                      Retry all…
                    </Button>
                  </Cell>
                </Row>
              ))}
            </Table>
          )
        }
      </Answered>
      {chosen !== null && (
        <BulkDialog
          action="retry"
          count={() => countBulk('retry', { filter: filterOfFailure(chosen, since) })}
          order={order}
          none="No execution has ended because of this: the failure was handled by another node, or it was retried since."
          onClose={() => choose(null)}
        />
      )}
    </Page>
  );
}

// Why executions failed in the last day, by cause: the most frequent ones, each with a sample, its list and a way to retry them all.

import { Link } from '@tanstack/react-router';
import { Panel } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Time } from '../../component/time.tsx';
import { useTally } from '../../data/overview.ts';
import { type FailureGroup, useFailures } from '../../data/statistics.ts';
import { filterOfFailure, searchOfFilter } from '../../model/execution-filter.ts';
import { clipped, countText, plural } from '../../model/text.ts';

const SINCE = '24h';
const SHOWN = 6;

export function Causes() {
  const failures = useFailures(SINCE, undefined);
  return (
    <Panel
      title="Causes of failures, last 24 hours"
      actions={
        <Link to="/failures" className="link text-xs">
          All causes
        </Link>
      }
    >
      <Answered query={failures} what="the failures" rows={3}>
        {(groups) => {
          if (groups.length === 0) {
            return <NoCauses />;
          }
          const shown = groups.toSorted((a, b) => b.count - a.count).slice(0, SHOWN);
          return (
            <ul className="divide-y">
              {shown.map((group) => (
                <Cause key={group.fingerprint} group={group} />
              ))}
            </ul>
          );
        }}
      </Answered>
    </Panel>
  );
}

/** The numbers lag some seconds behind the executions: what has just failed is not called nothing. */
function NoCauses() {
  const failed = useTally({ status: ['Failed', 'TimedOut'], since: SINCE })?.count ?? 0;
  return failed === 0 ? (
    <Empty title="Nothing failed">A cause stands here a few seconds after an execution has failed.</Empty>
  ) : (
    <Empty title={`${plural(failed, 'execution')} failed just now`}>
      The causes are being counted, and stand here in some seconds.
    </Empty>
  );
}

function Cause({ group }: { readonly group: FailureGroup }) {
  const { workflowId, nodeId, code, message, count, lastAt, sampleId, fingerprint } = group;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
      <Link
        to="/executions"
        search={searchOfFilter(filterOfFailure(group, SINCE))}
        className="tabular w-10 text-right font-semibold text-bad hover:underline"
        title="Open the list"
      >
        {countText(count)}×
      </Link>
      <span className="min-w-0 flex-1">
        <span className="flex flex-wrap items-baseline gap-x-2">
          <code className="font-mono text-xs font-semibold">{code}</code>
          <span>
            {clipped(workflowId, 40)}
            {nodeId !== undefined && <span className="text-muted"> / {clipped(nodeId, 40)}</span>}
          </span>
        </span>
        <span className="block truncate text-xs text-muted" title={clipped(message, 500)}>
          {clipped(message, 160)}
        </span>
      </span>
      <span className="text-xs text-muted">
        <Time at={lastAt} />
      </span>
      <Link to="/executions/$executionId" params={{ executionId: sampleId }} className="link text-xs">
        Open
      </Link>
      <Link to="/failures" search={{ since: SINCE, retry: fingerprint }} className="link text-xs">
        Retry all…
      </Link>
    </li>
  );
}

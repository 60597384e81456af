// How this workflow does over time: what ended and failed, how long it takes, by version.

import { useState } from 'react';
import { Bars } from '../../component/bars.tsx';
import { Panel } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { type StatPoint, useStats } from '../../data/statistics.ts';
import { BUCKET_MS, seriesOf } from '../../model/series.ts';
import { percentText } from '../../model/text.ts';
import { durationText } from '../../model/time.ts';
import type { WorkflowItem } from '../../model/workflow-item.ts';

const RANGES = [
  { name: 'Last 24 hours', bucket: 'hour', count: 24 },
  { name: 'Last 7 days', bucket: 'hour', count: 168 },
  { name: 'Last 90 days', bucket: 'day', count: 90 },
] as const;

export function StatsTab({ item }: { readonly item: WorkflowItem }) {
  const [range, setRange] = useState<(typeof RANGES)[number]>(RANGES[0]);
  const { bucket, count } = range;
  const stats = useStats({ bucket, by: 'version', workflowId: item.id, lastMs: count * BUCKET_MS[bucket] });
  return (
    <Answered query={stats} what="the numbers">
      {(points) =>
        points.length === 0 ? (
          <Empty title="No numbers yet">
            They are gathered while executions end, and stand here a few seconds later.
          </Empty>
        ) : (
          <div className="flex flex-col gap-4">
            <Panel
              title={`Executions per ${bucket}`}
              actions={
                <select
                  className="field"
                  aria-label="Time"
                  value={range.name}
                  onChange={({ target }) => setRange(RANGES.find(({ name }) => name === target.value)!)}
                >
                  {RANGES.map(({ name }) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
              }
            >
              <div className="px-4 py-3">
                <Bars
                  points={seriesOf(points, BUCKET_MS[bucket], count, Date.now())}
                  label={`Executions per ${bucket}`}
                  height={120}
                />
              </div>
            </Panel>
            <Table label="By version" columns={['Version', 'Started', 'Succeeded', 'Failed', 'Failure rate', 'p95']}>
              {[...Map.groupBy(points, ({ key }) => key)].map(([key, list]) => (
                <VersionRow key={key} name={key} points={list} />
              ))}
            </Table>
          </div>
        )
      }
    </Answered>
  );
}

function VersionRow({ name, points }: { readonly name: string; readonly points: readonly StatPoint[] }) {
  const sum = (pick: (point: StatPoint) => number) => points.reduce((total, point) => total + pick(point), 0);
  const failed = sum((point) => point.failed + point.timedOut);
  const succeeded = sum((point) => point.succeeded);
  const p95 = Math.max(0, ...points.map(({ p95Ms }) => p95Ms ?? 0));
  return (
    <Row>
      <Cell isMain>v{name.split('@').at(-1)}</Cell>
      <Cell label="Started">{sum((point) => point.started)}</Cell>
      <Cell label="Succeeded">{succeeded}</Cell>
      <Cell label="Failed">{failed}</Cell>
      <Cell label="Failure rate">{percentText(failed, failed + succeeded)}</Cell>
      <Cell label="p95">{p95 === 0 ? '–' : durationText(p95)}</Cell>
    </Row>
  );
}

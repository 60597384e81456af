// The last hour, minute by minute: what ended, what failed, how long it took and waited.

import { Bars } from '../../component/bars.tsx';
import { Panel } from '../../component/page.tsx';
import { Answered } from '../../component/state.tsx';
import { useStats } from '../../data/statistics.ts';
import { BUCKET_MS, seriesOf } from '../../model/series.ts';
import { durationText } from '../../model/time.ts';

const MINUTES = 60;

export function HourPanel() {
  const stats = useStats({ bucket: 'minute' });
  return (
    <Panel title="Last hour">
      <Answered query={stats} what="the last hour" rows={2}>
        {(points) => {
          const series = seriesOf(points, BUCKET_MS.minute, MINUTES, Date.now());
          const ended = series.reduce((sum, point) => sum + point.ended, 0);
          const failed = series.reduce((sum, point) => sum + point.failed, 0);
          const slowest = Math.max(0, ...series.map(({ p95Ms }) => p95Ms ?? 0));
          const waited = Math.max(0, ...series.map(({ waitP95Ms }) => waitP95Ms ?? 0));
          return (
            <div className="flex flex-col gap-2 px-4 py-3">
              <Bars points={series} label="Executions per minute" />
              <p className="tabular text-xs text-muted">
                {ended} ended, {failed} failed
                {slowest > 0 && `, p95 up to ${durationText(slowest)}`}
                {waited > 0 && `, queued p95 up to ${durationText(waited)}`}
              </p>
            </div>
          );
        }}
      </Answered>
    </Panel>
  );
}

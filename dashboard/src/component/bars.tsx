// A bar per interval: ended executions, and the failed ones among them.

import type { SeriesPoint } from '../model/series.ts';
import { exactText } from '../model/time.ts';

interface BarsProps {
  readonly points: readonly SeriesPoint[];
  readonly label: string;
  readonly height?: number;
}

export function Bars({ points, label, height = 72 }: BarsProps) {
  const most = Math.max(1, ...points.map(({ ended }) => ended));
  const failed = points.reduce((sum, point) => sum + point.failed, 0);
  const ended = points.reduce((sum, point) => sum + point.ended, 0);
  return (
    <div
      role="img"
      aria-label={`${label}: ${ended} ended, ${failed} failed`}
      className="flex items-end gap-px"
      style={{ height }}
    >
      {points.map((point) => (
        <span
          key={point.at}
          title={`${exactText(point.at, 'local')}: ${point.ended} ended, ${point.failed} failed`}
          className="flex h-full min-w-px flex-1 flex-col justify-end"
        >
          <span className="rounded-t-xs bg-bad-solid" style={{ height: `${(100 * point.failed) / most}%` }} />
          <span className="bg-ok-solid/70" style={{ height: `${(100 * (point.ended - point.failed)) / most}%` }} />
          {point.ended === 0 && <span className="h-px bg-line-strong" />}
        </span>
      ))}
    </div>
  );
}

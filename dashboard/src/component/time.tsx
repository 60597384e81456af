// A time relative to now, exact on hover, in the reader's zone; and durations that count on.

import { createContext, useContext, useEffect, useState } from 'react';
import { clockText, durationText, exactText, preciseText, relativeText, type Zone } from '../model/time.ts';

export const ZoneContext = createContext<Zone>('local');

/** The current time, refreshed at an interval. */
export function useNow(everyMs: number | null = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (everyMs === null) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

interface TimeProps {
  readonly at: string | number | undefined;
  readonly as?: 'relative' | 'clock' | 'precise' | 'exact';
}

export function Time({ at, as = 'relative' }: TimeProps) {
  const zone = useContext(ZoneContext);
  const now = useNow(as === 'relative' ? 5_000 : null);
  if (at === undefined) return <span className="text-faint">–</span>;
  const time = typeof at === 'number' ? at : Date.parse(at);
  const exact = exactText(time, zone);
  const text = {
    relative: () => relativeText(time, now),
    clock: () => clockText(time, now, zone),
    precise: () => preciseText(time, zone),
    exact: () => exact,
  }[as]();
  return (
    <time dateTime={new Date(time).toISOString()} title={exact} className="tabular whitespace-nowrap">
      {text}
    </time>
  );
}

/** When something is due; "due" if that time has passed. */
export function Due({ at }: { readonly at: string | undefined }) {
  const now = useNow(5_000);
  if (at !== undefined && Date.parse(at) <= now) return <span className="text-muted">due</span>;
  return <Time at={at} />;
}

/** From one time to another, or to now. */
export function Took({ from, to }: { readonly from: string | undefined; readonly to: string | undefined }) {
  const isOpen = from !== undefined && to === undefined;
  const now = useNow(isOpen ? 1_000 : null);
  if (from === undefined) return <span className="text-faint">–</span>;
  const ms = (to === undefined ? now : Date.parse(to)) - Date.parse(from);
  return <span className="tabular whitespace-nowrap">{durationText(Math.max(0, ms))}</span>;
}

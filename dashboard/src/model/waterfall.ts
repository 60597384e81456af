// The timeline of an execution: for each node its tries with what each spent queued, at work, sleeping or waiting, from true
// times. Percentages of the whole span, so that a view only draws.

export interface TimelineAttempt {
  readonly nodeId: string;
  readonly attempt: number;
  readonly status: string;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** Between being due and being started, where it is known. */
  readonly waitedMs?: number | undefined;
}

export type SegmentKind = 'queued' | 'ran' | 'rest' | 'backoff' | 'failed';

export interface Segment {
  readonly kind: SegmentKind;
  readonly from: number;
  readonly to: number;
  readonly attempt: number;
  readonly isOpen: boolean;
}

export interface TimelineRow {
  readonly nodeId: string;
  readonly segments: readonly Segment[];
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Timeline extends Span {
  readonly rows: readonly TimelineRow[];
}

const RESTS = new Set(['Sleeping', 'Waiting']);
const FAILURES = new Set(['Failed', 'RetriableFailure', 'TimedOut', 'Cancelled']);

export interface TimelineSource {
  readonly nodes: readonly { readonly id: string; readonly type: string; readonly status: string }[];
  readonly attempts: readonly TimelineAttempt[];
  readonly createdAt: number;
  readonly endedAt?: number | undefined;
}

export function timelineOf({ nodes, attempts, createdAt, endedAt }: TimelineSource, now: number): Timeline {
  const to = Math.max(endedAt ?? now, ...attempts.map((each) => each.endedAt ?? each.startedAt ?? 0), createdAt + 1);
  const byNode = Map.groupBy(attempts, ({ nodeId }) => nodeId);
  const written = new Set(nodes.map(({ id }) => id));
  // Items and rounds of loops have nodes of their own, which the plan does not list.
  const unlisted = [...byNode.keys()].filter((id) => !written.has(id)).map((id) => ({ id, type: '', status: '' }));
  const rows = [...nodes, ...unlisted].flatMap((node): TimelineRow[] => {
    const tries = (byNode.get(node.id) ?? []).filter(({ startedAt }) => startedAt !== undefined);
    if (tries.length === 0) return [];
    const isRest =
      RESTS.has(node.status) || node.type === 'sleep' || node.type === 'webhook' || node.type === 'core.delay';
    return [{ nodeId: node.id, segments: segmentsOf(tries, isRest, endedAt ?? now) }];
  });
  rows.sort((a, b) => a.segments[0]!.from - b.segments[0]!.from);
  return { from: createdAt, to, rows };
}

function segmentsOf(tries: readonly TimelineAttempt[], isRest: boolean, end: number): Segment[] {
  const ordered = tries.toSorted((a, b) => a.attempt - b.attempt);
  return ordered.flatMap((each, index): Segment[] => {
    const from = each.startedAt!;
    const isOpen = each.endedAt === undefined;
    const to = Math.max(from, each.endedAt ?? end);
    const kind = FAILURES.has(each.status) ? 'failed' : isRest ? 'rest' : 'ran';
    // The attempt is recorded as started before it waits for a free place.
    const ran = Math.min(to, from + (each.waitedMs ?? 0));
    const queued: Segment[] =
      ran > from ? [{ kind: 'queued', from, to: ran, attempt: each.attempt, isOpen: false }] : [];
    const next = ordered[index + 1]?.startedAt;
    const gap: Segment[] =
      next !== undefined && !isOpen && next > to
        ? [{ kind: 'backoff', from: to, to: next, attempt: each.attempt, isOpen: false }]
        : [];
    return [...queued, { kind, from: ran, to, attempt: each.attempt, isOpen }, ...gap];
  });
}

/** Where something lies in a span, in percent; what lies outside is cut off. */
export function placeOf({ from, to }: Span, span: Span): { readonly left: number; readonly width: number } {
  const whole = Math.max(1, span.to - span.from);
  const percent = (at: number) => Math.min(100, Math.max(0, (100 * (at - span.from)) / whole));
  const left = percent(from);
  return { left, width: Math.max(0, percent(to) - left) };
}

/** A narrower part is not looked at: a click is not a drawing. */
const NARROWEST = 0.01;

/** The part of a span between two shares of it, in either order; null: too narrow to mean it. */
export function partOf(span: Span, { from, to }: Span): Span | null {
  const [first, last] = from < to ? [from, to] : [to, from];
  if (last - first < NARROWEST) return null;
  const whole = span.to - span.from;
  return { from: span.from + first * whole, to: Math.max(span.from + last * whole, span.from + first * whole + 1) };
}

/** Round times for the axis: about five of them. */
export function ticksOf(span: Span): number[] {
  const whole = Math.max(1, span.to - span.from);
  const rough = whole / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const ticks: number[] = [];
  for (let at = step; at < whole; at += step) ticks.push(at);
  return ticks;
}

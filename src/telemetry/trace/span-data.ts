// A finished span, and its form for OpenTelemetry's exporters. Spans are never kept open: one that began a week ago in another
// process is sent whole from here.

import { type HrTime, type SpanContext, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { TraceContext } from '../../core/id/trace-context.ts';

export interface SpanData {
  readonly context: TraceContext;
  readonly parent: TraceContext | null;
  readonly link: TraceContext | null;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** null: no error. */
  readonly error: string | null;
}

const SCOPE = { name: 'pawl' };

export function readableSpan(data: SpanData, resource: Resource): ReadableSpan {
  const context = spanContext(data.context, false);
  const { startedAt, endedAt } = data;
  return {
    name: data.name,
    kind: SpanKind.INTERNAL,
    spanContext: () => context,
    ...(data.parent === null ? {} : { parentSpanContext: spanContext(data.parent, true) }),
    startTime: hrTime(startedAt),
    endTime: hrTime(endedAt),
    duration: hrTime(endedAt - startedAt),
    status: data.error === null ? { code: SpanStatusCode.OK } : { code: SpanStatusCode.ERROR, message: data.error },
    attributes: { ...data.attributes },
    links: data.link === null ? [] : [{ context: spanContext(data.link, true) }],
    events: [],
    ended: true,
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

export function spanContext({ traceId, spanId, sampled }: TraceContext, isRemote: boolean): SpanContext {
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote };
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

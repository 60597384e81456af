// A collector of OpenTelemetry spans: it accepts OTLP as JSON over HTTP and keeps every span in a simple form.

import { type HttpStandin, httpStandin } from '../standin/http-standin.ts';

export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the span is a root. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: 'unset' | 'ok' | 'error';
  readonly message: string;
  readonly startedAt: bigint;
  readonly endedAt: bigint;
}

export interface OtlpCollector {
  readonly standin: HttpStandin;
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything received, unchanged. */
  text(): string;
}

const STATUS = ['unset', 'ok', 'error'] as const;

export async function otlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = [];
  const standin = await httpStandin(({ url, headers, body }) => {
    if (url.pathname !== '/v1/traces' || headers['content-type'] !== 'application/json')
      return { status: 404, body: '' };
    spans.push(...spansOf(JSON.parse(body) as TraceRequest));
    return { status: 200, body: {} };
  });
  const text = () => standin.requests.map(({ body }) => body).join('\n');
  return { standin, url: standin.url, spans, text };
}

function spansOf({ resourceSpans }: TraceRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        attributes: attributesOf(span.attributes),
        links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
        status: STATUS[span.status?.code ?? 0]!,
        message: span.status?.message ?? '',
        startedAt: BigInt(span.startTimeUnixNano),
        endedAt: BigInt(span.endTimeUnixNano),
      })),
    );
  });
}

function attributesOf(pairs: readonly KeyValue[]): Record<string, string | number> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue ?? value.doubleValue)]),
  );
}

interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string | number; readonly doubleValue?: number };
}

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly attributes: readonly KeyValue[];
        readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
        readonly status?: { readonly code?: number; readonly message?: string };
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
      }[];
    }[];
  }[];
}

// Traces of executions in OpenTelemetry: a span per execution, below it one per node, below that one per attempt. A child
// execution is linked to the node that started it. Spans are created when something has ended durably, and handed to
// OpenTelemetry's batching and exporter. Loaded only when traces are enabled.

import { context, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { AttemptResult, RanAttempt, RunAttempt } from '../../action/attempt.ts';
import { nodeAt } from '../../core/decider/frame.ts';
import { formatTraceparent, parseTraceparent } from '../../core/id/trace-context.ts';
import type { EndedExecution } from '../../engine/environment.ts';
import type { Tracing } from '../../engine/turn/tracing-port.ts';
import { attemptContent, executionContent, type NodeEnd, nodeContent } from './execution-span.ts';
import { readableSpan, type SpanData, spanContext } from './span-data.ts';
import { MAX_WAITING_SPANS, SpanQueue } from './span-queue.ts';
import { executionSpanId, newSpanId, nodeSpanId, traceOf } from './trace-id.ts';

export interface TracingOptions {
  /** The OTLP endpoint over HTTP, path included: http://localhost:4318/v1/traces. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly serviceVersion: string;
  readonly sampleRatio: number;
  readonly exportIntervalMs: number;
  readonly wallClockMs: () => number;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}

export interface ExecutionTracing extends Tracing {
  executionEnded(ended: EndedExecution): void;
  /** Of an attempt that another program ran. */
  attemptEnded(request: RanAttempt, result: AttemptResult, startedAt: number): void;
  /** Wraps attempts in spans; calls inside an attempt belong to its span. */
  traced(run: RunAttempt): RunAttempt;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

const SEND_TIMEOUT_MS = 5_000;

export function openTracing(options: TracingOptions): ExecutionTracing {
  const { endpoint: url, headers, sampleRatio, wallClockMs, warn } = options;
  const resource = resourceOf(options);
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: SEND_TIMEOUT_MS });
  const queue = new SpanQueue(warn);
  const processor = new BatchSpanProcessor({
    exporter: outspoken(exporter, queue, warn),
    scheduledDelayMillis: options.exportIntervalMs,
    exportTimeoutMillis: SEND_TIMEOUT_MS,
    maxQueueSize: MAX_WAITING_SPANS,
  });
  const send = (span: SpanData): void => {
    if (queue.takes()) processor.onEnd(readableSpan(span, resource));
  };
  return {
    contextOf({ execution, state }, node) {
      const { traceId, sampled } = traceOf(execution, sampleRatio);
      return formatTraceparent({ traceId, sampled, spanId: nodeSpanId(state, node) });
    },
    committed(resident, transitions) {
      const { execution, state } = resident;
      const { traceId, sampled } = traceOf(execution, sampleRatio);
      if (!sampled) return;
      const parent = { traceId, sampled, spanId: executionSpanId(execution.executionId, state.generation) };
      for (const { facts, at } of transitions) {
        for (const fact of facts) {
          if (!isNodeEnd(fact)) continue;
          // A finished item has removed its nodes; its attempts have spans of their own.
          const node = nodeAt(state, fact.node);
          if (node === undefined) continue;
          const startedAt = node.firstStartedAt ?? at;
          const content = nodeContent(resident, fact, at - startedAt);
          const context = { traceId, sampled, spanId: nodeSpanId(state, fact.node) };
          send({ context, parent, link: null, ...content, startedAt, endedAt: at });
        }
      }
    },
    executionEnded(ended) {
      const { execution, state } = ended;
      const { traceId, sampled, parent, link } = traceOf(execution, sampleRatio);
      if (!sampled) return;
      const endedAt = state?.at ?? wallClockMs();
      const startedAt = Math.min(state?.startedAt ?? execution.createdAt, endedAt);
      const spanId = executionSpanId(execution.executionId, state?.generation ?? 0);
      const content = executionContent(ended, endedAt - startedAt);
      send({ context: { traceId, sampled, spanId }, parent, link, ...content, startedAt, endedAt });
    },
    attemptEnded(request, result, startedAt) {
      const parent = request.traceparent === null ? null : parseTraceparent(request.traceparent);
      if (parent === null || !parent.sampled) return;
      const endedAt = Math.max(startedAt, wallClockMs());
      const content = attemptContent(request, result, endedAt - startedAt);
      send({ context: { ...parent, spanId: newSpanId() }, parent, link: null, ...content, startedAt, endedAt });
    },
    traced: (run) => async (request) => {
      const parent = request.traceparent === null ? null : parseTraceparent(request.traceparent);
      if (parent === null || !parent.sampled) return run(request);
      const own = { ...parent, spanId: newSpanId() };
      const startedAt = wallClockMs();
      // Other code in this process that creates spans finds the attempt's span as the active one.
      const active = trace.setSpanContext(context.active(), spanContext(own, false));
      const result = await context.with(active, () => run({ ...request, traceparent: formatTraceparent(own) }));
      const endedAt = Math.max(startedAt, wallClockMs());
      const content = attemptContent(request, result, endedAt - startedAt);
      send({ context: own, parent, link: null, ...content, startedAt, endedAt });
      return result;
    },
    close: () => processor.shutdown().catch(() => {}),
  };
}

function isNodeEnd(fact: { readonly type: string }): fact is NodeEnd {
  const { type } = fact;
  return type === 'NodeSucceeded' || type === 'NodeFailed' || type === 'NodeTimedOut' || type === 'NodeCancelled';
}

function resourceOf({ serviceName, serviceVersion }: TracingOptions): Resource {
  return resourceFromAttributes({ 'service.name': serviceName, 'service.version': serviceVersion });
}

/** Logs spans that could not be sent. Nothing else waits for them. */
function outspoken(exporter: SpanExporter, queue: SpanQueue, warn: TracingOptions['warn']): SpanExporter {
  return {
    export(spans, done) {
      queue.left(spans.length);
      exporter.export(spans, (result) => {
        if (result.error !== undefined) {
          warn('spans could not be sent', { spans: spans.length, error: result.error.message });
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

// Executions: start, look, follow, change, wait for the end.

import type {
  AcceptedJson,
  ExecuteAnswer,
  ExecuteRequest,
  ExecutionWithIncludesJson,
  Page,
  RetryJson,
  SignalJson,
  SignalRequest,
} from '../protocol/answer.ts';
import type { EventJson, ExecutionJson, GraphJson, HierarchyJson, Why } from '../protocol/execution.ts';
import { apiErrorOf } from './api-error.ts';
import { serverSentEvents } from './event-source.ts';
import { part, pause, type Transport } from './transport.ts';
import type { PageQuery, WorkflowsApi } from './workflows.ts';

export interface ExecutionListQuery extends PageQuery {
  readonly workflowId?: string;
  readonly version?: number;
  readonly status?: readonly ExecutionJson['status'][];
  readonly format?: ExecutionJson['format'];
  readonly parentExecutionId?: string;
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  /** Part of the error's code or message. */
  readonly error?: string;
  readonly why?: Why;
}

export interface FollowOptions {
  /** Events with a higher seq. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

/** The signal's id is made unless it is given: by it a repetition is known. */
type NewSignal = SignalRequest extends infer Signal
  ? Signal extends SignalRequest
    ? Omit<Signal, 'signalId' | 'tenantId'> & { readonly signalId?: string }
    : never
  : never;

const BASE = '/api/v1/executions';
const ENDED: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Cancelled', 'TimedOut']);
/** No event has such a seq: only the end is told. */
const ONLY_THE_END = 999_999_999;
const AGAIN_AFTER_MS = 500;

export class ExecutionsApi {
  private readonly transport: Transport;
  private readonly workflows: WorkflowsApi;

  constructor(transport: Transport, workflows: WorkflowsApi) {
    this.transport = transport;
    this.workflows = workflows;
  }

  execute(workflowId: string, request: ExecuteRequest = {}): Promise<ExecuteAnswer> {
    return this.workflows.execute(workflowId, request);
  }

  get(
    id: string,
    query: {
      readonly include?: readonly ('actions' | 'resources' | 'events' | 'children')[];
      readonly limit?: number;
      readonly offset?: number;
    } = {},
  ): Promise<ExecutionWithIncludesJson> {
    return this.transport.get(of(id), query);
  }

  list(query: ExecutionListQuery = {}): Promise<Page<ExecutionJson>> {
    return this.transport.get(BASE, { ...query });
  }

  graph(id: string): Promise<GraphJson> {
    return this.transport.get(`${of(id)}/graph`);
  }

  hierarchy(id: string): Promise<HierarchyJson> {
    return this.transport.get(`${of(id)}/hierarchy`);
  }

  /** One page of what has happened. */
  eventPage(id: string, query: { readonly after?: number; readonly limit?: number } = {}): Promise<Page<EventJson>> {
    return this.transport.get(`${of(id)}/events`, query);
  }

  /** Everything that happens, from the first event to the end; a connection that breaks is taken up where it was. */
  async *events(id: string, { after, signal }: FollowOptions = {}): AsyncGenerator<EventJson, void, undefined> {
    for (let seen = after; ; ) {
      const answer = await this.stream(id, seen, signal);
      try {
        for await (const { event, data } of serverSentEvents(answer)) {
          if (event === 'end') return;
          const happened = JSON.parse(data) as EventJson;
          seen = happened.type === 'Log' ? seen : happened.seq;
          yield happened;
        }
      } catch (error) {
        if (signal?.aborted === true) throw error;
      }
      await pause(AGAIN_AFTER_MS, signal);
    }
  }

  cancel(id: string, request: { readonly reason?: string } = {}): Promise<AcceptedJson> {
    return this.transport.ask('POST', `${of(id)}/cancel`, { body: request, repeatable: true });
  }

  signal(id: string, signal: NewSignal): Promise<SignalJson> {
    const body = { signalId: crypto.randomUUID() as string, ...signal };
    return this.transport.ask('POST', `${of(id)}/signals`, { body, repeatable: true });
  }

  /** What a node that waits was promised: the last part of its callback URL. Also the second time it is 200. */
  callBack(token: string, payload: unknown = {}): Promise<{ received: true }> {
    return this.transport.ask('POST', `/wh/${part(token)}`, { body: payload, repeatable: true });
  }

  /** Runs the failed nodes again. */
  retry(id: string): Promise<RetryJson> {
    return this.transport.ask('POST', `${of(id)}/retry`);
  }

  /** Resolves when the execution has ended, however it did; rejects when the signal aborts first. */
  async waitFor(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<ExecutionWithIncludesJson> {
    for (;;) {
      for await (const _ of this.events(id, { after: ONLY_THE_END, ...(signal === undefined ? {} : { signal }) }));
      const execution = await this.get(id);
      if (ENDED.has(execution.status)) return execution;
      // The server stopped, and said so as if it were the end.
      await pause(AGAIN_AFTER_MS, signal);
    }
  }

  private async stream(
    id: string,
    after: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ReadableStream<Uint8Array>> {
    const headers = { accept: 'text/event-stream' };
    const answer = await this.transport.send('GET', `${of(id)}/events`, {
      query: { after },
      headers,
      repeatable: true,
      signal,
    });
    if (answer.body === null) throw await apiErrorOf(answer);
    return answer.body;
  }
}

const of = (id: string): string => `${BASE}/${part(id)}`;

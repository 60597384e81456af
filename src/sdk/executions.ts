// Executions: start, read, follow, change, wait for the end.

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
import type { EventJson, ExecutionJson, GraphJson, HierarchyJson, LinkedResourceJson } from '../protocol/execution.ts';
import type { ExecutionRowJson, executionListQuery } from '../protocol/execution-list.ts';
import type { ItemJson, JournalJson, NodeDetailJson, TransitionJson } from '../protocol/journal.ts';
import type { WaitJson } from '../protocol/open-wait.ts';
import type { QueryOf } from '../protocol/page.ts';
import type { ArtifactJson } from '../protocol/step-output.ts';
import { apiErrorOf } from './api-error.ts';
import { Backoff, isPassing } from './backoff.ts';
import { serverSentEvents } from './event-source.ts';
import { part, type Transport } from './transport.ts';
import type { PageQuery, WorkflowsApi } from './workflows.ts';

export interface ExecutionListQuery extends Omit<QueryOf<typeof executionListQuery>, 'view' | 'include'> {}

/** A page of a list that may be long: see `total` and `searchedTo`. */
export interface ExecutionPage<Item> extends Page<Item> {
  readonly total?: { readonly count: number; readonly isCapped: boolean } | undefined;
  /** The page is short because 50,000 executions were searched; `nextCursor` goes on from this time. */
  readonly searchedTo?: string | undefined;
}

export interface FollowOptions {
  /** Events with a higher seq. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

/** A signal id is generated unless it is given. The server recognises a repetition by it. */
type NewSignal = SignalRequest extends infer Signal
  ? Signal extends SignalRequest
    ? Omit<Signal, 'signalId' | 'tenantId'> & { readonly signalId?: string }
    : never
  : never;

const BASE = '/api/v1/executions';
const ENDED: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Cancelled', 'TimedOut']);
/** Shorter than the request limit of common proxies. */
const LONG_POLL = '50s';
const ANSWERED_AT_ONCE_MS = 5_000;

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

  list(query: ExecutionListQuery = {}): Promise<ExecutionPage<ExecutionJson>> {
    return this.transport.get(BASE, { ...query });
  }

  /** The same without payloads, with the reason each one waits; `include: ['nodes']` adds node counts to at most 50 rows. */
  rows(
    query: ExecutionListQuery & { readonly include?: readonly 'nodes'[] } = {},
  ): Promise<ExecutionPage<ExecutionRowJson>> {
    return this.transport.get(BASE, { ...query, view: 'row' });
  }

  /** Resources of another system, each with the execution that made or found it. */
  resources(query: {
    readonly system?: string;
    readonly resourceType?: string;
    readonly resourceId?: string;
    readonly limit?: number;
    readonly cursor?: string | undefined;
  }): Promise<Page<LinkedResourceJson>> {
    return this.transport.get('/api/v1/resources', query);
  }

  /** The recorded facts, to fold with the decider's `evolve`; plan and start come with the first page. */
  journal(id: string, query: { readonly after?: number; readonly limit?: number } = {}): Promise<JournalJson> {
    return this.transport.get(`${of(id)}/journal`, query);
  }

  /** Transitions as they are written, to the end. Resumes after a broken connection. */
  async *transitions(
    id: string,
    { after, signal }: FollowOptions = {},
  ): AsyncGenerator<TransitionJson, void, undefined> {
    let seen = after;
    for await (const transition of this.messages<TransitionJson>(`${of(id)}/journal`, () => seen, signal)) {
      seen = transition.seq;
      yield transition;
    }
  }

  /** One node, with the inputs and outputs of all attempts. */
  node(id: string, nodeId: string): Promise<NodeDetailJson> {
    return this.transport.get(`${of(id)}/nodes/${part(nodeId)}`);
  }

  /** The outcomes of a loop's items or rounds, by index. */
  items(
    id: string,
    nodeId: string,
    query: { readonly limit?: number; readonly cursor?: string } = {},
  ): Promise<Page<ItemJson>> {
    return this.transport.get(`${of(id)}/nodes/${part(nodeId)}/items`, { ...query });
  }

  graph(id: string): Promise<GraphJson> {
    return this.transport.get(`${of(id)}/graph`);
  }

  /** Artifacts of its attempts. */
  artifacts(id: string, query: PageQuery = {}): Promise<Page<ArtifactJson>> {
    return this.transport.get(`${of(id)}/artifacts`, { ...query });
  }

  /** The bytes of an artifact; `body` is a stream. */
  artifact(artifactId: string): Promise<Response> {
    return this.transport.send('GET', `/api/v1/artifacts/${part(artifactId)}`, { repeatable: true });
  }

  hierarchy(id: string): Promise<HierarchyJson> {
    return this.transport.get(`${of(id)}/hierarchy`);
  }

  /** One page of events. */
  eventPage(id: string, query: { readonly after?: number; readonly limit?: number } = {}): Promise<Page<EventJson>> {
    return this.transport.get(`${of(id)}/events`, query);
  }

  /** All events from the first to the end. Resumes after a broken connection. */
  async *events(id: string, { after, signal }: FollowOptions = {}): AsyncGenerator<EventJson, void, undefined> {
    let seen = after;
    // A new connection tells the log of a running attempt from its beginning.
    const told = new Map<string, string>();
    for await (const happened of this.messages<EventJson>(`${of(id)}/events`, () => seen, signal)) {
      if (happened.type === 'Log') {
        const { ts, nodeId, data } = happened;
        const { attempt, message } = data as { attempt?: number; message?: string };
        const place = `${ts} ${message}`;
        const key = `${attempt}:${nodeId}`;
        const last = told.get(key);
        if (last !== undefined && (place === last || ts < last.slice(0, ts.length))) continue;
        told.set(key, place);
      } else seen = happened.seq;
      yield happened;
    }
  }

  /** Once open, the stream is opened again after the last seen event for as long as the server is away. */
  private async *messages<Message>(
    path: string,
    seen: () => number | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Message, void, undefined> {
    const backoff = new Backoff();
    for (let wasOpen = false; ; ) {
      try {
        const answer = await this.stream(path, seen(), signal);
        wasOpen = true;
        for await (const { event, data } of serverSentEvents(answer)) {
          backoff.reset();
          if (event === 'end') return;
          yield JSON.parse(data) as Message;
        }
      } catch (error) {
        if (signal?.aborted === true || !wasOpen || !isPassing(error)) throw error;
      }
      await backoff.rest(signal);
    }
  }

  cancel(id: string, request: { readonly reason?: string; readonly terminate?: boolean } = {}): Promise<AcceptedJson> {
    return this.transport.ask('POST', `${of(id)}/cancel`, { body: request, repeatable: true });
  }

  signal(id: string, signal: NewSignal): Promise<SignalJson> {
    const body = { signalId: crypto.randomUUID() as string, ...signal };
    return this.transport.ask('POST', `${of(id)}/signals`, { body, repeatable: true });
  }

  /** Open callbacks, newest execution first. */
  waits(query: PageQuery & { readonly workflowId?: string } = {}): Promise<Page<WaitJson>> {
    return this.transport.get('/api/v1/waits', { ...query });
  }

  /** Answers the callback in place of the other side. */
  continueWait(id: string, nodeId: string, payload: unknown = {}): Promise<{ received: true }> {
    const path = `${of(id)}/nodes/${part(nodeId)}/callback`;
    return this.transport.ask('POST', path, { body: payload, repeatable: true });
  }

  /** Answers a callback by its token, the last part of the callback URL. Repeating it also answers 200. */
  callBack(token: string, payload: unknown = {}): Promise<{ received: true }> {
    return this.transport.ask('POST', `/wh/${part(token)}`, { body: payload, repeatable: true });
  }

  /** Runs the failed nodes again. */
  retry(id: string): Promise<RetryJson> {
    return this.transport.ask('POST', `${of(id)}/retry`);
  }

  /**
   * Starts an execution and resolves when it has ended, with whatever outcome. If it ends within a minute, the first answer
   * has the result; the same requestId makes a retry safe. Rejects when the signal aborts first; the execution goes on.
   */
  async run(
    workflowId: string,
    request: ExecuteRequest = {},
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<ExecutionJson> {
    const answer = await this.workflows.executeWithin(workflowId, request, { wait: LONG_POLL, signal });
    return 'driver' in answer && ENDED.has(answer.status) ? answer : this.waitFor(answer.executionId, signalOf(signal));
  }

  /** Resolves when the execution has ended, with whatever outcome; rejects when the signal aborts first. */
  async waitFor(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<ExecutionWithIncludesJson> {
    const backoff = new Backoff();
    for (;;) {
      signal?.throwIfAborted();
      const askedAt = performance.now();
      try {
        const execution = await this.transport.get<ExecutionWithIncludesJson>(of(id), { wait: LONG_POLL }, { signal });
        if (ENDED.has(execution.status)) return execution;
        // An immediate answer means that the server did not wait: it is stopping, or too many callers wait already.
        if (performance.now() - askedAt > ANSWERED_AT_ONCE_MS) backoff.reset();
      } catch (error) {
        if (signal?.aborted === true || !isPassing(error)) throw error;
      }
      await backoff.rest(signal);
    }
  }

  private async stream(
    path: string,
    after: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ReadableStream<Uint8Array>> {
    const headers = { accept: 'text/event-stream' };
    const answer = await this.transport.send('GET', path, {
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
const signalOf = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

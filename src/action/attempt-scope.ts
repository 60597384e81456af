// The context of one attempt: the engine's data, with the attempt's own signal, log and watched credentials. Each part is created
// on first use, because most actions use few and a core action must cost microseconds. Once stopped or closed it stays so: an
// abandoned action finds its signal aborted and its log closed.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActionContext, AttemptArtifacts, Credentials, FindResource, Principal } from './action.ts';
import type { Credential } from './credential.ts';
import type { HttpClient } from './http-client.ts';
import { type ActionLog, createLogCollector, type FollowLines, type LogCollector, type LogLine } from './log.ts';
import { Redactor, watchCredentials } from './redact.ts';
import { Stop, type StopSignal } from './stop.ts';

/** The engine's data about an attempt. */
export interface AttemptContext extends Omit<ActionContext, 'signal' | 'log'> {
  /** The clock of log lines. */
  readonly now: () => number;
  /** Aborted when the execution stops (cancel, fail fast, its timeout, shutdown). */
  readonly signal?: StopSignal;
  /** Secret values among the parameters: kept out of everything that is stored. */
  readonly secrets?: readonly string[] | undefined;
  /** Shows the log while the attempt runs. */
  readonly followLines?: FollowLines | undefined;
}

const NO_LINES: readonly LogLine[] = [];
const NO_HEADERS: Readonly<Record<string, string>> = {};

export class AttemptScope implements ActionContext {
  readonly executionId: string;
  readonly nodeId: string;
  readonly attempt: number;
  readonly mayHaveRun: boolean;
  readonly idempotencyKey: string;
  readonly principal: Principal;
  readonly correlationId: string;
  readonly tenantId: string;
  readonly traceparent: string | null;
  readonly credential: Credential | null;
  readonly #engine: AttemptContext;
  #redactor: Redactor | null = null;
  #controller: AbortController | null = null;
  #stop: Stop | null = null;
  #collector: LogCollector | null = null;
  #credentials: Credentials | null = null;
  #http: HttpClient | null = null;

  constructor(engine: AttemptContext) {
    this.executionId = engine.executionId;
    this.nodeId = engine.nodeId;
    this.attempt = engine.attempt;
    this.mayHaveRun = engine.mayHaveRun;
    this.idempotencyKey = engine.idempotencyKey;
    this.principal = engine.principal;
    this.correlationId = engine.correlationId;
    this.tenantId = engine.tenantId;
    this.traceparent = engine.traceparent;
    this.credential = engine.credential;
    this.#engine = engine;
  }

  get redactor(): Redactor {
    if (this.#redactor === null) {
      this.#redactor = new Redactor(this.credential?.secrets);
      for (const secret of this.#engine.secrets ?? []) this.#redactor.add(secret);
    }
    return this.#redactor;
  }

  /** null: the attempt has no secrets, so there is nothing to look for. */
  get knownSecrets(): Redactor | null {
    const isGiven = (this.credential?.secrets.length ?? 0) > 0 || this.#engine.secrets !== undefined;
    return isGiven ? this.redactor : this.#redactor;
  }

  /** A standalone function, because actions destructure their context. */
  get findResource(): FindResource {
    return (key) => this.#engine.findResource(key);
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      const controller = new AbortController();
      const stop = this.#ownStop();
      // An error in the action's listeners is the action's own, whoever aborts the attempt (attempt-origin.ts).
      const asTheAction = AsyncLocalStorage.snapshot();
      if (stop.aborted) controller.abort(stop.reason);
      else stop.addEventListener('abort', () => asTheAction(() => controller.abort(stop.reason)));
      this.#controller = controller;
    }
    return this.#controller.signal;
  }

  get credentials(): Credentials {
    this.#credentials ??= watchCredentials(this.#engine.credentials, this.redactor);
    return this.#credentials;
  }

  /** Requests stop with the attempt, whatever the action asks for, and belong to its trace. */
  get http(): HttpClient {
    this.#http ??= {
      request: (request) => {
        this.credential?.checkHost(new URL(request.url));
        const { signal, headers = NO_HEADERS } = request;
        const stop = signal === undefined ? this.#ownStop() : AbortSignal.any([signal as AbortSignal, this.signal]);
        return this.#engine.http.request({ ...request, headers: withTrace(headers, this.traceparent), signal: stop });
      },
    };
    return this.#http;
  }

  /** Stored artifacts are redacted in the same way as outputs. */
  get artifacts(): AttemptArtifacts {
    const { artifacts } = this.#engine;
    return {
      put: (artifact, content) => artifacts.put(artifact, this.redactor.redactContent(content)),
      open: (uri) => artifacts.open(uri),
    };
  }

  get log(): ActionLog {
    this.#collector ??= createLogCollector({
      now: this.#engine.now,
      redactor: this.redactor,
      follow: this.#engine.followLines,
    });
    return this.#collector.log;
  }

  stop(reason: Error): void {
    this.#ownStop().abort(reason);
  }

  #ownStop(): Stop {
    this.#stop ??= new Stop();
    return this.#stop;
  }

  close(): readonly LogLine[] {
    return this.#collector === null ? NO_LINES : this.#collector.close();
  }
}

/** A trace context set by the action is left as it is. */
function withTrace(
  headers: Readonly<Record<string, string>>,
  traceparent: string | null,
): Readonly<Record<string, string>> {
  if (traceparent === null) return headers;
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === 'traceparent');
  return isGiven ? headers : { ...headers, traceparent };
}

// The dozen calls of Conductor's REST API that we make. Each one is safe to repeat, or reports an unknown outcome.

import { EngineRefusalError, EngineUnavailableError } from '../driver.ts';
import type { ConductorDefinition } from './lane-definition.ts';

export interface ConductorRun {
  readonly workflowId: string;
  /** RUNNING, PAUSED, COMPLETED, FAILED, TERMINATED, TIMED_OUT. */
  readonly status: string;
  readonly workflowName?: string;
  readonly reasonForIncompletion?: string;
  readonly createTime?: number;
}

export interface PolledTask {
  readonly taskId: string;
  readonly workflowInstanceId: string;
  readonly taskType: string;
  readonly scheduledTime?: number;
  readonly inputData: Readonly<Record<string, unknown>>;
}

export interface TaskAnswer {
  readonly taskId: string;
  readonly workflowInstanceId: string;
  readonly status: 'COMPLETED' | 'IN_PROGRESS' | 'FAILED_WITH_TERMINAL_ERROR';
  readonly outputData?: Readonly<Record<string, unknown>>;
  readonly callbackAfterSeconds?: number;
  readonly reasonForIncompletion?: string;
}

interface LaneTask {
  readonly taskType: string;
  readonly status: string;
  readonly inputData?: Readonly<Record<string, unknown>>;
}

const CALL_TIMEOUT_MS = 10_000;
/** Statuses for a definition that the server will never accept. */
const UNACCEPTABLE = new Set([400, 413, 422]);

/** The server answered, and refused. */
export class ConductorRefusalError extends Error {
  override readonly name = 'ConductorRefusalError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class ConductorClient {
  readonly url: string;
  private readonly send: typeof fetch;

  constructor(url: string, send: typeof fetch = fetch) {
    this.url = url.replace(/\/+$/, '');
    this.send = send;
  }

  /** Returns the id of the new run. Starting twice creates two runs, so look for the correlation id first. */
  async start(definition: ConductorDefinition, correlationId: string, input: object): Promise<string> {
    const { name, version } = definition;
    const start = { name, version, correlationId, input, workflowDef: definition };
    return this.text('POST', '/api/workflow', start).catch((error: unknown) => {
      if (!(error instanceof ConductorRefusalError) || !UNACCEPTABLE.has(error.status)) throw error;
      throw new EngineRefusalError(
        `${error.message}. The definition was generated from the workflow's plan; see docs/conductor.md`,
      );
    });
  }

  /** Runs with this correlation id, oldest first. */
  async find(name: string, correlationId: string): Promise<ConductorRun[]> {
    const path = `/api/workflow/${encodeURIComponent(name)}/correlated/${encodeURIComponent(correlationId)}`;
    const runs = await this.json<ConductorRun[]>('GET', `${path}?includeClosed=true&includeTasks=false`);
    return runs.toSorted((a, b) => (a.createTime ?? 0) - (b.createTime ?? 0));
  }

  /** null: no such run. */
  async get(workflowId: string): Promise<ConductorRun | null> {
    try {
      return await this.json<ConductorRun>('GET', `/api/workflow/${workflowId}?includeTasks=false`);
    } catch (error) {
      if (error instanceof ConductorRefusalError && error.status === 404) return null;
      throw error;
    }
  }

  /** Nodes whose lane has ended. */
  async endedLanes(workflowId: string): Promise<ReadonlySet<string>> {
    const run = await this.json<{ tasks?: readonly LaneTask[] }>(
      'GET',
      `/api/workflow/${workflowId}?includeTasks=true`,
    );
    const lanes = (run.tasks ?? []).filter(({ taskType, status }) => taskType === 'DO_WHILE' && status === 'COMPLETED');
    return new Set(lanes.map(({ inputData }) => String(inputData?.node)));
  }

  async terminate(workflowId: string, reason: string): Promise<void> {
    await this.text('DELETE', `/api/workflow/${workflowId}?reason=${encodeURIComponent(reason)}`).catch(ignoreGone);
  }

  /** Returns at once: otherwise the server would wait for the full count. */
  async poll(taskType: string, count: number, workerId: string): Promise<PolledTask[]> {
    const query = `count=${count}&timeout=0&workerid=${encodeURIComponent(workerId)}`;
    return (await this.json<PolledTask[] | null>('GET', `/api/tasks/poll/batch/${taskType}?${query}`)) ?? [];
  }

  /** When a worker last polled for tasks of this type; null: never. */
  async lastPollAt(taskType: string): Promise<number | null> {
    const path = `/api/tasks/queue/polldata?taskType=${encodeURIComponent(taskType)}`;
    const polls = (await this.json<{ lastPollTime?: number }[] | null>('GET', path)) ?? [];
    return polls.length === 0 ? null : Math.max(...polls.map(({ lastPollTime }) => lastPollTime ?? 0));
  }

  async answer(answer: TaskAnswer): Promise<void> {
    await this.text('POST', '/api/tasks', answer);
  }

  async isHealthy(): Promise<boolean> {
    const { healthy } = await this.json<{ healthy?: boolean }>('GET', '/health');
    return healthy === true;
  }

  private async json<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const text = await this.text(method, path, body);
    return (text === '' ? null : JSON.parse(text)) as Answer;
  }

  private async text(method: string, path: string, body?: unknown): Promise<string> {
    const answer = await this.send(`${this.url}${path}`, {
      method,
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }).catch((error: Error) => {
      const why = error.cause instanceof Error ? error.cause.message : error.message;
      throw new EngineUnavailableError(`Conductor does not answer at ${this.url}: ${why}. Check conductor.url`);
    });
    const text = await answer.text();
    if (answer.ok) return text;
    const said = text.slice(0, 500);
    if (answer.status >= 500 && answer.status !== 500)
      throw new EngineUnavailableError(`Conductor at ${this.url} answered ${answer.status}: ${said}`);
    throw new ConductorRefusalError(answer.status, `Conductor at ${this.url} refused (${answer.status}): ${said}`);
  }
}

function ignoreGone(error: unknown): void {
  // Ended or removed meanwhile: nothing is left to terminate.
  if (error instanceof ConductorRefusalError && (error.status === 404 || error.status === 409)) return;
  throw error;
}

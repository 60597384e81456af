// Task queues: their depth, and the requests of a worker.

import type {
  HeartbeatJson,
  HeartbeatRequest,
  PollRequest,
  TaskJson,
  TaskQueueJson,
  TaskResult,
} from '../protocol/task-queue.ts';
import type { TaskHandler, TaskWorkOptions } from './task-worker.ts';
import { part, type Transport } from './transport.ts';

export class TaskQueuesApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  list(): Promise<{ data: TaskQueueJson[] }> {
    return this.transport.get('/api/v1/task-queues');
  }

  poll(taskQueue: string, request: PollRequest, signal?: AbortSignal): Promise<{ tasks: TaskJson[] }> {
    const body = { body: request, repeatable: false, ...(signal === undefined ? {} : { signal }) };
    return this.transport.ask('POST', `/api/v1/task-queues/${part(taskQueue)}/poll`, body);
  }

  heartbeat(taskQueue: string, request: HeartbeatRequest): Promise<HeartbeatJson> {
    return this.transport.ask('POST', `/api/v1/task-queues/${part(taskQueue)}/heartbeat`, {
      body: request,
      repeatable: true,
    });
  }

  complete(taskQueue: string, result: TaskResult): Promise<{ executionId: string }> {
    return this.transport.ask('POST', `/api/v1/task-queues/${part(taskQueue)}/complete`, {
      body: result,
      repeatable: false,
    });
  }

  /** Works on a queue until the signal aborts. Handlers are chosen by action type; `*` handles all others. */
  async work(
    taskQueue: string,
    handlers: Readonly<Record<string, TaskHandler>>,
    options: TaskWorkOptions,
  ): Promise<void> {
    // Loaded on demand: a page that only reads need not carry it.
    const { TaskWorker } = await import('./task-worker.ts');
    await new TaskWorker(this, taskQueue, handlers, options).run();
  }
}

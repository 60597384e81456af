// Hands the attempts of an execution to the desk of this runner or to a worker of their task queue. Results come back as inputs
// of the execution. Nothing is decided here; a dispatched attempt has a durable cause (I2).

import type { AttemptRequest, AttemptResult } from '../../action/attempt.ts';
import { Stop } from '../../action/stop.ts';
import type { Command } from '../../core/decider/command.ts';
import { nodeAt } from '../../core/decider/frame.ts';
import { weightOf } from '../../core/json/json.ts';
import type { AttemptDesk } from '../attempt/attempt-desk.ts';
import { attemptInput, attemptRequest, notRunAgain } from './attempt-input.ts';
import { type RemoteAttempts, unqueueable } from './remote-attempts.ts';
import { MAX_HELD_BYTES, type QueuedInput, type Resident } from './resident.ts';
import type { Residents } from './residents.ts';
import { type Tracing, traceparentFor } from './tracing-port.ts';

export interface DispatchDeps {
  readonly desk: AttemptDesk;
  readonly remote: RemoteAttempts;
  readonly residents: Pick<Residents, 'memory'>;
  readonly tracing?: Tracing | undefined;
  readonly isOver: () => boolean;
  /** Nothing new is started any more. */
  readonly isDraining: () => boolean;
}

/** Receives the results of attempts. */
interface Listener {
  enqueue(resident: Resident, queued: QueuedInput): void;
  settle(resident: Resident): void;
}

export class Dispatch {
  private readonly deps: DispatchDeps;
  private readonly listener: Listener;

  constructor(deps: DispatchDeps, listener: Listener) {
    this.deps = deps;
    this.listener = listener;
  }

  /** `isAgain`: its start was in the journal when this runner took the execution, so a former owner may have run it. */
  run(resident: Resident, command: Extract<Command, { type: 'runAction' }>, isAgain: boolean): void {
    const { node, attempt } = command;
    const mayHaveRun = isAgain || attempt > 1;
    const stop = new Stop();
    const traceparent = traceparentFor(this.deps.tracing, resident, node);
    const request = attemptRequest(resident, command, { signal: stop, traceparent, mayHaveRun });
    if (this.deps.isDraining() || request === null) return;
    resident.running.set(node, { attempt, stop, bytes: weightOf(command.params, MAX_HELD_BYTES) });
    const queue = this.deps.remote.queueFor(resident, node);
    if (queue !== null) return this.runRemotely(resident, node, request, queue);
    const finished = (result: AttemptResult) => this.ended(resident, node, attempt, result);
    if (this.deps.desk.submit(request, finished, this.deps.residents.memory.hasRoom(resident))) return;
    // Its start is in the journal, so the next owner runs it.
    resident.running.delete(node);
    resident.setAside();
  }

  isRemote(resident: Resident, node: number): boolean {
    return this.deps.remote.queueFor(resident, node) !== null;
  }

  stop(resident: Resident, node: number): void {
    if (this.isRemote(resident, node)) this.stopRemotely(resident, node, nodeAt(resident.state, node)?.attempts ?? 0);
    else resident.running.get(node)?.stop.abort();
  }

  /** The execution has ended. Leftover rows do no harm, so this is not awaited. */
  executionEnded(resident: Resident): void {
    this.deps.remote.ended(resident);
  }

  /** A worker of its queue runs it. Once its row is durable, the execution only waits for mail. */
  private runRemotely(resident: Resident, node: number, request: AttemptRequest, queue: string): void {
    const { attempt } = request;
    this.deps.remote.add(resident, node, request, queue).then(
      () => {
        if (resident.running.get(node)?.attempt === attempt) resident.running.delete(node);
        if (!resident.isBusy && !resident.isGone && !this.deps.isOver()) this.listener.settle(resident);
      },
      (error: unknown) => this.ended(resident, node, attempt, unqueueable(error)),
    );
  }

  /** A worker that has the attempt reports its result. An attempt without a worker never ran. */
  private stopRemotely(resident: Resident, node: number, attempt: number): void {
    void this.deps.remote.stop(resident, node, attempt).then((isGone) => {
      if (isGone && !resident.isGone && !this.deps.isOver())
        this.listener.enqueue(resident, notRunAgain(node, attempt));
    });
  }

  private ended(resident: Resident, node: number, attempt: number, result: AttemptResult): void {
    if (this.deps.isOver() || this.isForTheNextOwner(resident, node, result)) return;
    if (resident.running.get(node)?.attempt === attempt) resident.running.delete(node);
    this.listener.enqueue(resident, attemptInput(node, attempt, result));
  }

  /** It ended because this runner stops, which is not an outcome: the next owner runs it again. */
  private isForTheNextOwner({ state, running }: Resident, node: number, result: AttemptResult): boolean {
    if (!this.deps.isDraining() || result.ok || !result.aborted || state.stopping !== null) return false;
    if (!result.abandoned) running.delete(node);
    return true;
  }
}

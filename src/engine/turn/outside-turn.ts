// A turn of an execution on another engine: the folding, deciding and writing of the native turn under another fence. The other
// engine says when (`advance`), or delivers the outcome of an attempt (`runAttempt`), and is told what is open. It never decides
// what happens next, and never sees a parameter, an output or a secret.
//
// The fence is the queue row at the handed-over epoch (I4, I5). Within this process the turns of one execution run one at a time.
// Between processes the journal's key decides: the second one folds what the first one wrote and decides again (I14). So a lost,
// late or repeated call writes nothing twice (I3, I10).

import type { AttemptResult, RunAttempt } from '../../action/attempt.ts';
import { Stop } from '../../action/stop.ts';
import { createClock } from '../../clock/clock.ts';
import { startCommand } from '../../core/decider/command.ts';
import { allNodes, idOf, nodeAt } from '../../core/decider/frame.ts';
import { isFinal, isTerminal } from '../../core/decider/state.ts';
import { nodeIndexOf } from '../../core/plan/virtual-node.ts';
import type { ExternalTurn } from '../../store/external-port.ts';
import type { NewExecution } from '../../store/port.ts';
import { StoreError } from '../../store/store-error.ts';
import { attemptInput, attemptRequest, notRunAgain } from './attempt-input.ts';
import { failedUndo } from './dead-letter.ts';
import { decideTurn, type Turn, type TurnParts } from './decide-turn.ts';
import { eventWaits, hasEventWaits } from './event-wait.ts';
import type { LoadingDeps } from './loading.ts';
import { mailBody, mailKey } from './mail.ts';
import { isWaitedFor, type Open, OVER, openOf, waitOf } from './open.ts';
import { buryOutside } from './outside-burial.ts';
import { takeUpChildren } from './outside-children.ts';
import { OutsideMemory, parametersOf, type Remembered } from './outside-memory.ts';
import type { QueuedInput, Resident } from './resident.ts';
import { childStarted, prepareChildren } from './subworkflow.ts';
import { traceparentFor } from './tracing-port.ts';

export interface OutsideTurnsDeps extends Omit<TurnParts, 'clock'>, Omit<LoadingDeps, 'store'> {
  readonly run: RunAttempt;
  /** A hint: another execution has mail. */
  readonly mailSent: (executionId: string) => void;
}

/** Identifies a run of an execution. */
export interface OutsideRun {
  readonly executionId: string;
  readonly epoch: number;
  /** The `seq` of an answer that the caller has acted on; absent: everything that is open. */
  readonly since?: number | undefined;
}

export interface OutsideAttempt extends OutsideRun {
  readonly nodeId: string;
  readonly attempt: number;
}

/** It stopped because this process stops, which is not an outcome: the next process runs the same attempt again (I7). */
export class InterruptedAttemptError extends Error {
  override readonly name = 'InterruptedAttemptError';
}

/** An attempt may begin on a look at the database that is no older than this. */
const FRESH_MS = 1_000;
const RETRY_MS = 200;
/**
 * A run that waits for its child may start it over there. If it does not, the child is handed over like any other execution
 * after this time.
 */
const CHILD_HAND_OVER_MS = 5_000;
/** How often a running attempt is checked for being still wanted. Shorter than the grace period of a stopping execution. */
const WATCH_MS = 3_000;

interface TurnKind {
  /** Mail and timers count too. Only for turns whose answer reaches the other engine. */
  readonly withMail?: boolean;
  /** The attempt whose outcome this turn is about. */
  readonly asked?: OutsideAttempt;
}
type Inputs = (found: Remembered) => QueuedInput[];

export class OutsideTurns {
  private readonly deps: OutsideTurnsDeps & TurnParts;
  private readonly memory: OutsideMemory;
  /** The last turn of each execution in this process. */
  private readonly tails = new Map<string, Promise<unknown>>();
  /** Attempts running here. */
  private readonly running = new Map<string, Stop>();

  constructor(deps: OutsideTurnsDeps) {
    const clock = createClock(deps.timers);
    this.deps = { ...deps, clock };
    this.memory = new OutsideMemory({ ...deps, observeTime: clock.observe });
  }

  /** Decides on everything that waits: the start, mail, due timers. */
  advance(run: OutsideRun): Promise<Open> {
    return this.inTurn(run, () => [], { withMail: true });
  }

  /** A turn, and whether this node is settled; null: no node in particular. */
  async lookAt(run: OutsideRun, id: string | null): Promise<{ open: Open; isSettled: boolean }> {
    const open = await this.advance(run);
    const found = this.memory.peek(run.executionId, run.epoch);
    if (open.ended === true || found === undefined || id === null) return { open, isSettled: open.ended === true };
    return { open, isSettled: isFinal(nodeAt(found.resident.state, nodeIndex(found, id))!.status) };
  }

  /** Runs an open attempt and decides on its outcome. Rejects only when the attempt was interrupted: see above. */
  async runAttempt(asked: OutsideAttempt, stop = new Stop()): Promise<Open> {
    const { executionId, nodeId, attempt } = asked;
    const found = await this.attemptToRun(asked);
    if (found === null) return this.look(asked);
    const node = nodeIndex(found, nodeId);
    const { resident } = found;
    if (resident.state.stopping !== null) return this.inTurn(asked, whileOpen(asked, notRunAgain(node, attempt)));
    const params = await parametersOf(this.deps.store, found, node);
    const command = startCommand(resident.state, node, params ?? {});
    const traceparent = traceparentFor(this.deps.tracing, resident, node);
    // The other engine may have asked for this attempt before and lost the answer.
    const how = { signal: stop, traceparent, mayHaveRun: true };
    const request = command.type === 'runAction' ? attemptRequest(resident, command, how) : null;
    if (request === null) return this.look(asked);
    const key = attemptKey(executionId, nodeId, attempt);
    this.running.set(key, stop);
    this.deps.observer.count('dispatched');
    const unwatch = this.watch(asked, stop);
    const result = await this.deps.run(request);
    unwatch();
    if (this.running.get(key) === stop) this.running.delete(key);
    return this.settle(asked, node, result);
  }

  /** The outcome of an attempt from a process that may not write state: it waits in the inbox, and a duplicate counts once. */
  async handIn(asked: OutsideAttempt, tenantId: string, result: AttemptResult): Promise<{ live: boolean }> {
    const { executionId, epoch, nodeId, attempt } = asked;
    const mail = { kind: 'attemptResult' as const, nodeId, attempt, epoch, result };
    const message = { id: this.deps.newId(), executionId, kind: mail.kind, key: mailKey(mail), body: mailBody(mail) };
    const { live } = await this.deps.store.inboxSend({ message, tenantId });
    if (live) this.deps.mailSent(executionId);
    return { live };
  }

  /** Ends an execution whose run is gone, as Failed: nothing of it runs any more. */
  async close(run: OutsideRun, error: { code: string; message: string }): Promise<void> {
    await this.inTurn(run, ({ resident }) => {
      const running = [...allNodes(resident.state)].flatMap(([node, { status, attempts }]) =>
        status === 'Running' ? [notRunAgain(node, attempts)] : [],
      );
      return [{ input: { type: 'giveUp', error } }, ...running];
    });
  }

  private async settle(asked: OutsideAttempt, node: number, result: AttemptResult): Promise<Open> {
    const outcome = whileOpen(asked, attemptInput(node, asked.attempt, result));
    if (result.ok || result.aborted !== true) return this.inTurn(asked, outcome, { asked });
    let isInterrupted = false;
    const open = await this.inTurn(asked, (found) => {
      isInterrupted = found.resident.state.stopping === null && isOpenAttempt(found, asked);
      return isInterrupted ? [] : outcome(found);
    });
    if (isInterrupted && !isOver(open)) throw new InterruptedAttemptError('The attempt was told to stop by its worker');
    return open;
  }

  /** null: the attempt is unknown or no longer awaited. */
  private async attemptToRun(asked: OutsideAttempt): Promise<Remembered | null> {
    const { executionId, epoch } = asked;
    const known = this.memory.peek(executionId, epoch);
    const isFresh = known !== undefined && this.deps.timers.monotonicMs() - known.seenAt < FRESH_MS;
    if (isFresh && isOpenAttempt(known, asked)) return known;
    await this.look(asked);
    const now = this.memory.peek(executionId, epoch);
    return now !== undefined && isOpenAttempt(now, asked) ? now : null;
  }

  /** Tells an attempt to stop if its execution stops or no longer waits for it, whichever process decided that. */
  private watch(asked: OutsideAttempt, stop: Stop): () => void {
    const { timers } = this.deps;
    let isOver = false;
    let cancel = () => {};
    const look = async (): Promise<void> => {
      const open = await this.look(asked).catch(() => null);
      if (isOver) return;
      const found = this.memory.peek(asked.executionId, asked.epoch);
      const isStopped = found !== undefined && (!isOpenAttempt(found, asked) || found.resident.state.stopping !== null);
      // Without an answer from the database the attempt goes on.
      if (open?.ended !== true && !isStopped) cancel = timers.after(WATCH_MS, () => void look());
      else stop.abort(new Error('The execution does not wait for this attempt any more'));
    };
    cancel = timers.after(WATCH_MS, () => void look());
    return () => {
      isOver = true;
      cancel();
    };
  }

  /**
   * Lists open work without deciding. The answer about an attempt may be discarded because another worker has already given
   * one: mail that it had used up would have woken nobody.
   */
  look(run: OutsideRun): Promise<Open> {
    return this.inTurn(run, () => []);
  }

  /** One at a time per execution, retried until the database answers. */
  private inTurn(run: OutsideRun, inputs: Inputs, how: TurnKind = {}): Promise<Open> {
    const { executionId } = run;
    const before = this.tails.get(executionId) ?? Promise.resolve();
    const turn = before.catch(() => {}).then(() => this.untilDecided(run, inputs, how));
    this.tails.set(executionId, turn);
    const settled = () => {
      if (this.tails.get(executionId) === turn) this.tails.delete(executionId);
    };
    turn.then(settled, settled);
    return turn;
  }

  private async untilDecided(run: OutsideRun, inputs: Inputs, how: TurnKind): Promise<Open> {
    const { observer, timers } = this.deps;
    for (;;) {
      try {
        return await this.decide(run, inputs, how);
      } catch (error) {
        this.memory.forget(run.executionId);
        const failure = error instanceof StoreError ? error.failure : 'fatal';
        if (failure === 'fatal') throw error;
        if (failure === 'data') {
          await this.giveUp(run, { code: 'POISON', message: (error as Error).message });
          return OVER;
        }
        // Another turn came first, or ours has an unknown outcome: the journal tells.
        if (failure === 'alreadyApplied') continue;
        observer.warn('the database did not answer; trying again', { error: (error as Error).message });
        await new Promise<void>((resolve) => {
          timers.after(RETRY_MS, resolve);
        });
      }
    }
  }

  private async decide(run: OutsideRun, inputs: Inputs, { asked, withMail = false }: TurnKind): Promise<Open> {
    const { executionId, epoch, since } = run;
    const recalled = this.trusted(run, asked) ?? (await this.memory.recall(executionId, epoch, withMail));
    if ('broken' in recalled) {
      await this.giveUp(run, { code: recalled.broken.code, message: recalled.broken.problem });
      return OVER;
    }
    const { found } = recalled;
    if (found === null) return OVER;
    const { resident } = found;
    if (found.hasNews) await takeUpChildren(this.deps, found);
    found.hasNews = false;
    resident.queue.push(...inputs(found));
    while (resident.queue.length > 0 || resident.isLeftOpen) {
      if (resident.queue.length === 0) resident.queue.push({ input: { type: 'goOn' } });
      const isApplied = await this.takeOne(run, found);
      if (!isApplied) return OVER;
      if (isTerminal(resident.state.status)) break;
    }
    if (isTerminal(resident.state.status)) this.memory.forget(executionId);
    else this.memory.keep(executionId, found);
    return openOf(resident.state, resident.execution.environmentId, since);
  }

  /** An outcome of an attempt that is open in memory needs no look first: if memory is behind, the journal's key says so. */
  private trusted({ executionId, epoch }: OutsideRun, asked: OutsideAttempt | undefined) {
    const known = asked === undefined ? undefined : this.memory.peek(executionId, epoch);
    return known !== undefined && isOpenAttempt(known, asked!) ? { found: known } : null;
  }

  /** false: this epoch is over. */
  private async takeOne(run: OutsideRun, found: Remembered): Promise<boolean> {
    const { resident } = found;
    const turn = this.decided(resident);
    if (turn instanceof Error) {
      await this.giveUp(run, { code: 'POISON', message: `deciding failed: ${turn.message}` });
      return false;
    }
    const starts = turn.commands.filter((command) => command.type === 'startChild');
    const { children, refusals } = await prepareChildren(this.deps, resident, starts, this.deps.clock.now());
    const { written } = turn;
    await this.writeBefore(run, found, turn);
    if (written.events.length + written.consumed.length + written.attempts.length > 0) {
      const isApplied = await this.commit(run, found, turn, children);
      if (!isApplied) return false;
    }
    resident.queue.push(...refusals);
    this.carryOut(found, turn, children);
    return true;
  }

  private decided(resident: Resident): Turn | Error {
    try {
      return decideTurn(this.deps, resident);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Writing them twice gives the same wait and the same letter, so both come before the commit that mentions them (I10, I20). */
  private async writeBefore({ epoch }: OutsideRun, { resident }: Remembered, { commands }: Turn): Promise<void> {
    const { store, options } = this.deps;
    const waits = commands.flatMap((command) => (command.type === 'subscribe' ? eventWaits(resident, command) : []));
    if (waits.length > 0) await store.eventWaitAdd({ waits });
    for (const command of commands) {
      if (command.type !== 'deadLetter' || !options.deadLetters) continue;
      await store.externalLetter({ ...failedUndo(resident, command), epoch });
    }
  }

  private async commit(
    { executionId, epoch }: OutsideRun,
    found: Remembered,
    { written, transitions }: Turn,
    children: NewExecution[],
  ): Promise<boolean> {
    const { store, observer, tracing } = this.deps;
    const { resident } = found;
    const { crashResets: _resets, paused: _paused, resumed: _resumed, bytes: _bytes, ...rows } = written;
    const turn: ExternalTurn = {
      ...rows,
      children,
      executionId,
      epoch,
      ...waitOf(resident.state),
      childHandOverMs: children.every(({ parentNode }) => isWaitedFor(resident.state, parentNode))
        ? CHILD_HAND_OVER_MS
        : 0,
    };
    const { applied, at } = await store.externalCommit(turn);
    if (!applied) {
      observer.count('zombieWritesRejected');
      this.memory.forget(executionId);
      return false;
    }
    this.deps.clock.observe(at);
    found.seenAt = this.deps.timers.monotonicMs();
    observer.count('committedBatches');
    observer.count('committedTransitions', transitions.length);
    tracing?.committed(resident, transitions);
    return true;
  }

  /** The turn is durable. Other commands are derived from the state on demand; these are not. */
  private carryOut(found: Remembered, { commands, ends }: Turn, children: readonly NewExecution[]): void {
    const { resident, given, knownChildren } = found;
    const { executionId, parentId } = resident.execution;
    const { observer, mailSent } = this.deps;
    for (const command of commands) {
      if (command.type === 'runAction') given.set(command.node, command.params);
      if (command.type === 'cancelChild') mailSent(command.childId);
      if (command.type === 'abort') {
        this.running.get(attemptKey(executionId, idOf(resident.state, command.node), command.attempt))?.abort();
      }
      if (command.type === 'startChild' && children.some((child) => child.executionId === command.childId)) {
        knownChildren.add(command.childId);
        childStarted(resident, command);
      }
    }
    if (!ends) return;
    observer.count('ended');
    const { execution, state } = resident;
    // Leftover rows do no harm, so this is not awaited.
    if (hasEventWaits(state)) void this.deps.store.eventWaitDrop({ executionIds: [executionId] }).catch(() => {});
    observer.ended?.({ execution, status: state.status, state, outcome: null });
    if (parentId !== null) mailSent(parentId);
  }

  private async giveUp(run: OutsideRun, error: { code: string; message: string }): Promise<void> {
    this.memory.forget(run.executionId);
    await buryOutside(this.deps, run, error);
  }
}

const nodeIndex = ({ resident }: Remembered, id: string): number => nodeIndexOf(resident.state.plan, id);

const attemptKey = (executionId: string, nodeId: string, attempt: number) => `${executionId}:${nodeId}:${attempt}`;

function isOpenAttempt(found: Remembered, { nodeId: id, attempt }: OutsideAttempt): boolean {
  const node = nodeAt(found.resident.state, nodeIndex(found, id));
  return node?.status === 'Running' && node.attempts === attempt;
}

/** A result that is no longer awaited is not an input: it was already recorded, or its node was stopped. */
const whileOpen =
  (asked: OutsideAttempt, outcome: QueuedInput): Inputs =>
  (found) =>
    isOpenAttempt(found, asked) ? [outcome] : [];

const isOver = ({ ended }: Open): boolean => ended === true;

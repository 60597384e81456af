// Runs one definition in a test: the engine's own decider, with pinned outputs instead of the outside world and a clock that
// jumps to the next timer. Needs no database, and two runs of a test are identical (I16). Attempts run one after the other, in
// the order in which they start.

import type { ActionDefinition } from '../action/action.ts';
import type { AttemptResult } from '../action/attempt.ts';
import { invokeAction } from '../action/invoke.ts';
import { createRegistry, type Registry } from '../action/registry.ts';
import { compileSuppliedSchema } from '../action/supplied-schema.ts';
import type { Command } from '../core/decider/command.ts';
import { decide } from '../core/decider/decide.ts';
import { idOf, nodeAt, planNodeOf } from '../core/decider/frame.ts';
import type { Input } from '../core/decider/input.ts';
import { nextDue } from '../core/decider/next-due.ts';
import { initialState, isTerminal, type State } from '../core/decider/state.ts';
import { compileDefinition } from '../core/definition/compile.ts';
import { TerminalError } from '../core/error/error.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json } from '../core/json/json.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Problem } from '../core/problem/problem.ts';
import { triggerFor } from '../workflow/workflow-start.ts';
import { type Pinned, pinOf, resultOf } from './pin.ts';
import { type TestedWorkflow, Transcript } from './transcript.ts';

export interface WorkflowTest {
  /** As in `pawl start --trigger`: for a pipeline, the body. */
  readonly trigger?: Json | undefined;
  readonly spec?: Json | undefined;
  readonly principal?:
    | { readonly userId: string; readonly displayName?: string | undefined; readonly email?: string | null | undefined }
    | undefined;
  /** Answers by node id. `ship` also stands for the items of a loop, `ship[2]` for one of them. */
  readonly nodes?: Readonly<Record<string, Pinned>> | undefined;
  /** Answers by action type. */
  readonly stubs?: Readonly<Record<string, Pinned>> | undefined;
  /** Your own actions, run for real. `context.http` refuses every request. */
  readonly actions?: readonly ActionDefinition[] | undefined;
}

const BEGINNING_MS = Date.parse('2026-01-01T00:00:00Z');
/** A loop that never ends is a mistake of the definition, not of the test. */
const MOST_DECISIONS = 100_000;

/** `builtIn`: actions without outside effects. They run for real unless a test pins them. */
export async function runWorkflowTest(
  definition: unknown,
  test: WorkflowTest,
  builtIn: readonly ActionDefinition[],
): Promise<TestedWorkflow> {
  const { plan, format } = compiled(definition);
  checkTrigger(definition, test.trigger ?? {});
  checkNames(plan, test);
  const registry = createRegistry([...builtIn, ...(test.actions ?? [])]);
  const { principal } = test;
  const state = initialState(plan, {
    executionId: '00000000-0000-7000-8000-000000000000',
    tenantId: 'default',
    workflowId: plan.id,
    version: 1,
    trigger: triggerFor(format, test.trigger ?? {}),
    ...(test.spec === undefined ? {} : { spec: test.spec }),
    principal: {
      userId: principal?.userId ?? 'test',
      displayName: principal?.displayName ?? 'Test',
      email: principal?.email ?? null,
    },
    correlationId: 'test',
    callbackUrls: Object.fromEntries(
      plan.nodes.map(({ id }) => [id, `https://pawl.invalid/wh/${encodeURIComponent(id)}`]),
    ),
  });
  const run = new TestRun(state, test, registry);
  await run.toItsEnd();
  return run.transcript.result(run.elapsedMs);
}

function compiled(definition: unknown) {
  const result = compileDefinition(definition);
  if (result.ok) return result;
  throw new PawlError('WFENG005', `the definition is not valid:\n${listed(result.problems)}`, result.problems);
}

function checkTrigger(definition: unknown, trigger: Json): void {
  const { triggerSchema } = definition as { triggerSchema?: object };
  const problems = triggerSchema === undefined ? [] : compileSuppliedSchema(triggerSchema)(trigger);
  if (problems.length === 0) return;
  throw new PawlError('TRIGGER_INVALID', `the trigger does not fit the triggerSchema:\n${listed(problems)}`, problems);
}

/** A pin of an unknown node would test nothing. */
function checkNames({ nodes }: Plan, { nodes: pins = {} }: WorkflowTest): void {
  const known = new Set(
    nodes.flatMap(({ id, step }) =>
      ['body' in step ? step.body.nodes.map((inner) => `${id}.${inner.id}`) : [], id].flat(),
    ),
  );
  const unknown = Object.keys(pins).filter((name) => !known.has(name.replace(/\[\d+\]/, '')));
  if (unknown.length > 0)
    throw new Error(
      `there is no node ${unknown.map((name) => `"${name}"`).join(', ')} to pin: the nodes are ${[...known].join(', ')}`,
    );
}

class TestRun {
  readonly transcript: Transcript;
  private readonly state: State;
  private readonly test: WorkflowTest;
  private readonly registry: Registry;
  private readonly todo: Command[] = [];
  private now = BEGINNING_MS;
  private decisions = 0;

  constructor(state: State, test: WorkflowTest, registry: Registry) {
    this.state = state;
    this.test = test;
    this.registry = registry;
    this.transcript = new Transcript(state);
  }

  get elapsedMs(): number {
    return this.now - BEGINNING_MS;
  }

  async toItsEnd(): Promise<void> {
    this.send({ type: 'started' });
    while (!isTerminal(this.state.status)) {
      const next = this.todo.shift();
      if (next !== undefined) await this.carryOut(next);
      else if (!this.answerWaits()) this.letTimePass();
    }
  }

  private send(input: Input): void {
    if (++this.decisions > MOST_DECISIONS)
      throw new Error(`the workflow did not end within ${MOST_DECISIONS} decisions`);
    const decision = decide(this.state, input, { now: this.now, seed: 1, abortGraceMs: 0 });
    this.transcript.note(decision.transition);
    this.todo.push(...decision.commands);
    if (decision.isCutShort) this.send({ type: 'goOn' });
  }

  private async carryOut(command: Command): Promise<void> {
    if (command.type === 'startChild') return this.finishChild(command);
    if (command.type !== 'runAction') return;
    const { node, attempt } = command;
    const result = await this.attempt(command);
    if (!result.ok) {
      const { error, retryable, retryAfterMs, timedOut = false, outputs } = result;
      const more = {
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(outputs === undefined ? {} : { outputs }),
      };
      return this.send({ type: 'attemptFailed', node, attempt, error, retryable, timedOut, ...more });
    }
    const bytes = result.outputsText.length;
    this.send({ type: 'attemptSucceeded', node, attempt, outputs: JSON.parse(result.outputsText) as Json, bytes });
  }

  private async attempt(command: Extract<Command, { type: 'runAction' }>): Promise<AttemptResult> {
    const { node, attempt, params, idempotencyKey } = command;
    const { step } = planNodeOf(this.state, node);
    const actionType = step.kind === 'action' ? step.actionType : step.kind;
    const nodeId = idOf(this.state, node);
    const pinned = this.pinned(nodeId) ?? this.test.stubs?.[actionType];
    if (pinned !== undefined) return resultOf(pinned, params, { nodeId, attempt });
    if (this.registry.get(actionType) === undefined) throw new Error(unpinned(nodeId, actionType));
    const { executionId, tenantId, correlationId, principal } = this.state.start;
    const { registry } = this;
    const refuse = (): never => {
      throw new TerminalError(
        'NOT_IN_A_TEST',
        `${actionType} asked for the outside world: pin the outputs of "${nodeId}", or stub ${actionType}`,
      );
    };
    return invokeAction({
      registry,
      actionType,
      parameters: params,
      timeoutMs: command.timeoutMs,
      context: {
        ...{ executionId, nodeId, attempt, idempotencyKey, correlationId, tenantId },
        principal: principal as { userId: string; displayName: string; email: string | null },
        mayHaveRun: attempt > 1,
        traceparent: null,
        credentials: { token: () => undefined },
        credential: null,
        now: () => this.now,
        http: { request: async () => refuse() },
        findResource: async () => null,
        artifacts: { put: async () => refuse(), open: async () => refuse() },
      },
    });
  }

  /** `ship[2].charge` before `ship.charge`, `ship[2]` before `ship`. */
  private pinned(nodeId: string): Pinned | undefined {
    const pins = this.test.nodes ?? {};
    const own = Object.hasOwn(pins, nodeId) ? pins[nodeId] : undefined;
    const written = nodeId.replace(/\[\d+\]/, '');
    return own ?? (Object.hasOwn(pins, written) ? pins[written] : undefined);
  }

  private async finishChild(command: Extract<Command, { type: 'startChild' }>): Promise<void> {
    const { node, attempt, childId, workflowId, trigger } = command;
    const nodeId = idOf(this.state, node);
    const pinned = this.pinned(nodeId) ?? this.test.stubs?.[workflowId];
    if (pinned === undefined) throw new Error(unpinned(nodeId, `the workflow "${workflowId}"`));
    const result = await resultOf(pinned, trigger, { nodeId, attempt });
    if (result.ok)
      return this.send({
        type: 'childFinished',
        nodeId,
        childId,
        status: 'Succeeded',
        outputs: JSON.parse(result.outputsText) as Json,
      });
    this.send({ type: 'childFinished', nodeId, childId, status: 'Failed', error: result.error });
  }

  /** A pinned wait is answered; one without a pin waits for its timeout. */
  private answerWaits(): boolean {
    const { plan, nodes } = this.state;
    for (const [index, { id, step }] of plan.nodes.entries()) {
      const node = nodes[index]!;
      const isOpen = node.status === 'Waiting' && (step.kind === 'webhook' || step.kind === 'wait');
      const pinned = isOpen ? this.pinned(id) : undefined;
      if (pinned === undefined) continue;
      if (typeof pinned === 'function')
        throw new Error(`"${id}" waits: pin what comes as { "outputs": … }, not as a function`);
      const pin = pinOf(pinned, node.attempts);
      if ('error' in pin) continue;
      return this.answerWait(id, pin.outputs);
    }
    return false;
  }

  private answerWait(nodeId: string, outputs: Json): boolean {
    const node = this.state.nodes[this.state.plan.nodes.findIndex(({ id }) => id === nodeId)]!;
    const step = planNodeOf(this.state, this.state.nodes.indexOf(node)).step;
    const before = node.arrivals.length;
    const eventType = step.kind === 'wait' && !step.callback ? step.events[0]!.type : undefined;
    if (eventType === undefined) this.send({ type: 'webhookReceived', nodeId, payload: outputs });
    else this.send({ type: 'eventReceived', nodeId, eventId: `${nodeId}-${before + 1}`, eventType, data: outputs });
    return node.status !== 'Waiting' || node.arrivals.length > before;
  }

  private letTimePass(): void {
    const due = nextDue(this.state);
    if (due !== null) {
      this.now = Math.max(this.now, due);
      return this.send({ type: 'timerDue' });
    }
    const waiting = this.state.plan.nodes.filter((_, index) => nodeAt(this.state, index)!.status === 'Waiting');
    const names = waiting.map(({ id }) => `"${id}"`).join(', ');
    throw new Error(`${names || 'the workflow'} would wait for ever: pin what comes, as nodes.<id>.outputs`);
  }
}

const unpinned = (nodeId: string, what: string): string =>
  `node "${nodeId}" calls ${what}, which no test does: pin the node's outputs, or stub ${what}`;

const listed = (problems: readonly Problem[]): string =>
  problems.map(({ path, message }) => `  - ${path === '' ? '' : `${path}: `}${message}`).join('\n');

// Children of executions that another engine runs: inserted by the commit that starts them, taken up again where a process died between
// the commit and what follows from it. A child runs on the engine of its parent.

import { type Command, startCommand } from '../../core/decider/command.ts';
import { allNodes, planNodeOf } from '../../core/decider/frame.ts';
import type { NewExecution, Store } from '../../store/port.ts';
import type { TriggerCheck } from '../../workflow/trigger-check.ts';
import type { EngineOptions } from '../environment.ts';
import { parametersOf, type Remembered } from './outside-memory.ts';
import type { QueuedInput } from './resident.ts';
import { prepareChildren } from './subworkflow.ts';
import type { Tracing } from './tracing-port.ts';

interface OutsideChildrenDeps {
  readonly store: Store;
  readonly options: EngineOptions;
  readonly tracing?: Tracing | undefined;
  readonly checkTrigger?: TriggerCheck['check'] | undefined;
  readonly now: () => number;
}

type StartChild = Extract<Command, { type: 'startChild' }>;

export class OutsideChildren {
  private readonly deps: OutsideChildrenDeps;

  constructor(deps: OutsideChildrenDeps) {
    this.deps = deps;
  }

  /** Children to insert, and what the nodes hear whose child may not be started. */
  async prepare(
    { resident }: Remembered,
    starts: readonly StartChild[],
  ): Promise<{ children: NewExecution[]; refusals: QueuedInput[] }> {
    if (starts.length === 0) return { children: [], refusals: [] };
    return prepareChildren(this.deps, resident, starts, this.deps.now());
  }

  /** A node that does not wait for its child has done its work when the child is durable. */
  started({ resident }: Remembered, { node, attempt, childId }: StartChild): void {
    const { step } = planNodeOf(resident.state, node);
    if (step.kind !== 'subworkflow' || step.waitForCompletion) return;
    const outputs = { executionId: childId, status: 'Pending' };
    const bytes = JSON.stringify(outputs).length;
    resident.queue.push({ input: { type: 'attemptSucceeded', node, attempt, outputs, bytes } });
  }

  /** Whoever took the last turn may have died before it told a node that its child is there, or was refused. */
  async takeUp(found: Remembered): Promise<void> {
    const { store } = this.deps;
    const { resident, knownChildren, driver } = found;
    const open = [...allNodes(resident.state)].filter(
      ([, { status, childId }]) =>
        (status === 'Waiting' || status === 'Running') && childId !== null && !knownChildren.has(childId),
    );
    if (open.length === 0) return;
    const starts: StartChild[] = [];
    for (const [node] of open) {
      starts.push(startCommand(resident.state, node, await parametersOf(store, found, node)) as StartChild);
    }
    const known = new Set(await store.executionKnown({ executionIds: starts.map(({ childId }) => childId) }));
    const missing = starts.filter(({ childId }) => !known.has(childId));
    const { children, refusals } = await this.prepare(found, missing);
    if (children.length > 0) await store.executionStart({ items: children.map((child) => ({ ...child, driver })) });
    for (const { executionId } of children) known.add(executionId);
    for (const command of starts) {
      if (!known.has(command.childId)) continue;
      knownChildren.add(command.childId);
      this.started(found, command);
    }
    resident.queue.push(...refusals);
  }
}

// The application: submits its instances, waits until they have been checked and reminded, and closes them. It asks again, at
// another process, until it has an answer; sometimes it asks two processes at once. One request id stays one request.

import type { TriggerAnswer } from '../../../src/lifecycle/instance/instance-triggers.ts';
import type { Tables } from '../database/tables.ts';
import type { Random } from '../random.ts';
import type { Process, World } from '../world.ts';
import type { InstanceCase } from './case.ts';
import { ENV, MACHINE } from './machine.ts';
import type { Node } from './node.ts';
import type { Watch } from './watch.ts';

export interface ClientDeps {
  readonly world: World;
  readonly process: Process;
  readonly tables: Tables;
  readonly nodes: readonly Node[];
  readonly random: Random;
  readonly watch: Watch;
  readonly tenantId: string;
}

const ANSWER_WITHIN_MS = 4_000;
const LOOK_EVERY_MS = 100;

export class Client {
  busy = 0;
  private readonly deps: ClientDeps;

  constructor(deps: ClientDeps) {
    this.deps = deps;
  }

  begin(instances: readonly InstanceCase[]): void {
    for (const instance of instances) {
      this.busy++;
      this.deps.process.timers.after(instance.startAtMs, () => void this.live(instance));
    }
  }

  private async live(instance: InstanceCase): Promise<void> {
    const externalRef = `L-${instance.number}`;
    const row = () => [...this.deps.tables.messaging.instances.values()].find((one) => one.externalRef === externalRef);
    await this.insist(instance, 'submit');
    await this.until(() => row()?.state === 'passed' || row()?.state === 'refused');
    await this.until(() => row()!.timeoutsFired >= instance.reminders);
    await this.insist(instance, 'close');
    this.busy--;
  }

  private async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.deps.process.sleep(LOOK_EVERY_MS);
  }

  /** Asks until there is an answer. */
  private async insist({ number, isSentTwice }: InstanceCase, event: string): Promise<void> {
    for (;;) {
      const asked = isSentTwice ? [this.ask(number, event), this.ask(number, event)] : [this.ask(number, event)];
      const answers = await Promise.all(asked);
      if (answers.some((answer) => answer !== null)) return;
    }
  }

  /** null: no answer, or one that says nothing. */
  private ask(number: number, event: string): Promise<TriggerAnswer | null> {
    const { process, random, nodes, watch, tenantId } = this.deps;
    const node = random.pick(nodes);
    const externalRef = `L-${number}`;
    return new Promise((resolve) => {
      process.timers.after(ANSWER_WITHIN_MS, () => resolve(null));
      // Scheduled in the node's process: a process that crashes answers no more.
      node.process.timers.after(random.between(1, 20), () => {
        const { triggers } = node;
        if (triggers === null) return resolve(null);
        const key = { tenantId, env: ENV, definition: MACHINE, externalRef };
        triggers.apply({ ...key, event, requestId: `${event}-${number}`, cause: { type: 'trigger' } }).then(
          (answer) => process.timers.after(random.between(1, 20), () => resolve(answer)),
          (error: { code?: string; message: string }) => {
            if (error.code === 'TRANSITION_REJECTED')
              watch.violate('answer', `${externalRef} ${event}: ${error.message}`);
            process.timers.after(random.between(1, 20), () => resolve(null));
          },
        );
      });
    });
  }
}

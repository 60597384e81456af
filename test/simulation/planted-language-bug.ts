// Bugs put on purpose into loops, events, undo and joins: part of planted-bug.ts.

import type { Fact } from '../../src/core/decider/fact.ts';
import { nodeAt } from '../../src/core/decider/frame.ts';
import { Dispatch } from '../../src/engine/turn/dispatch.ts';
import type { QueuedInput, Resident } from '../../src/engine/turn/resident.ts';
import { Turns } from '../../src/engine/turn/turn.ts';
import { replace } from './replace.ts';
import type { Plant } from './simulation.ts';

export const PLANTED_LANGUAGE_BUGS: Readonly<Record<string, () => Plant>> = {
  'an item of a loop is started twice': () => ({
    patch: () =>
      replace(Dispatch.prototype as unknown as WithDispatch, 'run', (original) => {
        return function run(this: WithDispatch, resident: Resident, command: { node: number }, isAgain: boolean) {
          original.call(this, resident, command, isAgain);
          if (command.node >= resident.state.nodes.length) original.call(this, resident, command, isAgain);
        };
      }),
  }),
  'an event that comes before its wait is lost': () => ({
    statements: (statements, tables) => ({
      inboxSend(params) {
        const { kind, executionId } = params.message;
        const waits = tables.events.get(executionId)?.some(({ facts }) => facts.includes('"kind":"wait"')) === true;
        if (kind === 'event' && !waits) return { live: true, fresh: true, owner: null, isExternal: false };
        return statements.inboxSend(params);
      },
    }),
  }),
  'a start is answered before its waits for events are written': () => ({
    statements: (statements, tables) => ({
      eventWaitAdd: ({ waits }) =>
        statements.eventWaitAdd({
          waits: waits.filter(({ executionId }) => tables.queue.get(executionId)?.runnerId !== null),
        }),
    }),
  }),
  'a compensation is skipped after a takeover': () => ({
    store: (store) => ({
      executionLoad: async (params) =>
        rewritten(await store.executionLoad(params), (fact) =>
          fact.type === 'ExecutionCompensating' ? { ...fact, nodes: fact.nodes.slice(-1) } : fact,
        ),
    }),
  }),
  'the result of a loser that was given up counts': () => ({
    patch: () =>
      replace(Turns.prototype as unknown as WithEnqueue, 'enqueue', (original) => {
        return function enqueue(this: WithEnqueue, resident: Resident, queued: QueuedInput) {
          const { input } = queued;
          const node = input.type === 'attemptSucceeded' ? nodeAt(resident.state, input.node) : undefined;
          if (node?.status === 'Cancelled' && !node.stopped) {
            node.status = 'Running';
            resident.state.inFlight++;
            resident.state.unresolved++;
          }
          original.call(this, resident, queued);
        };
      }),
  }),
};

/** The same executions, with other facts in their journals. */
function rewritten<Loaded extends { readonly journal: readonly { readonly facts: string }[] }>(
  loaded: readonly Loaded[],
  change: (fact: Fact) => Fact,
): Loaded[] {
  return loaded.map((one) => {
    const journal = one.journal.map((row) => ({
      ...row,
      facts: JSON.stringify((JSON.parse(row.facts) as Fact[]).map(change)),
    }));
    return { ...one, journal };
  });
}

/** Private methods of the class. */
interface WithDispatch {
  run(resident: Resident, command: { node: number }, isAgain: boolean): void;
}

interface WithEnqueue {
  enqueue(resident: Resident, queued: QueuedInput): void;
}

// Bugs put on purpose into the code that an outside engine relies on. See planted-bug.ts.

import { HandOver } from '../../src/driver/hand-over.ts';
import type { ExternalTurn } from '../../src/store/external-port.ts';
import { EXTERNAL, makeReady, type Tables } from './database/tables.ts';
import type { Plant } from './simulation.ts';

export const OUTSIDE_BUGS: Readonly<Record<string, () => Plant>> = {
  'a turn is answered from its facts, and not from the state': () => {
    const told = new Map<string, number>();
    return {
      turns: (turns) => ({
        runAttempt: (asked, stop) => turns.runAttempt(asked, stop),
        // What was told once is not told again, so a lost answer stays lost.
        async advance(run) {
          const open = await turns.advance({ ...run, since: told.get(run.executionId) });
          told.set(run.executionId, open.seq);
          return open;
        },
      }),
    };
  },
  'a result is applied twice: the journal key is not looked at': () => ({
    statements: (statements, tables) => ({
      externalCommit: (turn) => statements.externalCommit(behindTheLast(tables, turn)),
    }),
  }),
  'a zombie of an earlier epoch writes': () => ({
    firstSeed: 330,
    statements: (statements, tables) => {
      const epochOf = (executionId: string, epoch: number) => tables.queue.get(executionId)?.epoch || epoch;
      return {
        externalLook: (look) => statements.externalLook({ ...look, epoch: epochOf(look.executionId, look.epoch) }),
        externalCommit(turn) {
          const { executionId, epoch } = turn;
          const outcome = statements.externalCommit({ ...turn, epoch: epochOf(executionId, epoch) });
          return outcome;
        },
      };
    },
  }),
  'a child of an outside execution is claimed natively': () => ({
    statements: (statements, tables) => ({
      externalCommit(turn) {
        const outcome = statements.externalCommit(turn);
        for (const { executionId } of turn.children) ready(tables, executionId);
        return outcome;
      },
    }),
  }),
  'a new outside execution is claimed natively': () => ({
    statements: (statements, tables) => ({
      executionStart(params) {
        const outcome = statements.executionStart(params);
        for (const { executionId } of params.items) ready(tables, executionId);
        return outcome;
      },
    }),
  }),
  'an outside execution that is reopened is claimed natively': () => ({
    statements: (statements, tables) => ({
      executionReopen(params) {
        const outcome = statements.executionReopen(params);
        ready(tables, params.executionId);
        return outcome;
      },
    }),
  }),
  'mail wakes an outside execution for a runner of ours': () => ({
    statements: (statements, tables) => ({
      inboxSend(params) {
        const outcome = statements.inboxSend(params);
        ready(tables, params.message.executionId);
        return outcome;
      },
    }),
  }),
  'an outside execution that is due is claimed natively': () => ({
    statements: (statements, tables) => ({
      externalCommit(turn) {
        const outcome = statements.externalCommit(turn);
        if (turn.dueAt !== null) ready(tables, turn.executionId);
        return outcome;
      },
    }),
  }),
  'mail without a waker': () => ({
    patch() {
      const { mail } = HandOver.prototype;
      HandOver.prototype.mail = async () => {};
      return () => {
        HandOver.prototype.mail = mail;
      };
    },
    store: () => ({ externalMail: async () => [] }),
  }),
  'what could not be handed over is not tried again': () => ({
    store: (store) => ({
      externalNote: (note) => store.externalNote(note.ref === undefined ? { ...note, lookAfterMs: 1e9 } : note),
    }),
  }),
  'nobody looks after runs that are gone': () => ({
    store: (store) => ({
      externalNote: (note) => store.externalNote(note.ref === undefined ? note : { ...note, lookAfterMs: 1e9 }),
    }),
  }),
};

function ready(tables: Tables, executionId: string): void {
  const row = tables.queue.get(executionId);
  if (row?.state === EXTERNAL) makeReady(tables, row);
}

/** As if the key did not exist: the second write comes after the first. */
function behindTheLast(tables: Tables, turn: ExternalTurn): ExternalTurn {
  const rows = tables.events.get(turn.executionId) ?? [];
  const next = rows.reduce((seq, row) => Math.max(seq, row.seq + (JSON.parse(row.facts) as unknown[]).length), 0);
  const behind = next - (turn.events[0]?.seq ?? next);
  return behind <= 0 ? turn : { ...turn, events: turn.events.map((event) => ({ ...event, seq: event.seq + behind })) };
}

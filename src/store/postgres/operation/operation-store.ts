// Operations: dead letters, retention, the database's clock and the installation's keys (I20, I24).

import { randomBytes } from 'node:crypto';
import { uuidV7 } from '../../../core/id/id.ts';
import type { DeadLetter, OperationStore } from '../../operation-port.ts';
import type { Timestamp } from '../../port.ts';
import { encodeColumns } from '../array-parameter.ts';
import { EVENT, MESSAGE, readable } from '../column-list.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const ADD = statement('dead_letter_add');
const NOTE = statement('dead_letter_note');
const UNDOING = statement('execution_undoing');
const LIST = statement('dead_letter_list');
const LIST_ALL = statement('dead_letter_list_all');
const PURGE_LETTERS = statement('dead_letter_purge');
const PURGE = statement('retention_purge');
const PURGE_RUNNERS = statement('runner_purge');
const CREATE_SECRET = statement('secret_create');
const PURGE_PLANS = statement('plan_version_purge');
const GET_SECRET = statement('secret_get');
const NOW = statement('clock_now');

const SECRET_BYTES = 32;
const NO_RANDOM = new Uint8Array(16);

export function operationStore(engine: Database, reader: Database): OperationStore {
  return {
    async deadLetterAdd({ slotId, outcome, reason, payload, attempts, lastError, event, sent, keepLetter }) {
      const { executionId, tenantId, status, outputs, error, contextSnapshot, startedAt, endedAt } = outcome;
      const ending = [
        executionId,
        tenantId,
        status,
        outputs,
        error,
        contextSnapshot,
        new Date(startedAt),
        new Date(endedAt),
      ];
      const letter = [readable(reason), payload, attempts, readable(lastError)];
      const [row] = await engine.run<{ applied: boolean }>(ADD, [
        slotId,
        ...ending,
        ...letter,
        ...encodeColumns(EVENT, event === undefined ? [] : [event]),
        ...encodeColumns(MESSAGE, sent ?? []),
        keepLetter ?? true,
      ]);
      return row!;
    },
    async deadLetterNote({ slotId, tenantId, executionId, reason, payload, attempts, lastError }) {
      const letter = [executionId, tenantId, readable(reason), payload, attempts, readable(lastError)];
      const [row] = await engine.run<{ applied: boolean }>(NOTE, [slotId, ...letter]);
      return row!;
    },
    async executionUndoing({ slotId, executionId }) {
      const rows = await engine.run(UNDOING, [slotId, executionId]);
      return { applied: rows.length > 0 };
    },
    async deadLetterList({ tenantId, afterId, limit }) {
      if (tenantId === null) return await reader.run<DeadLetter>(LIST_ALL, [afterId, limit]);
      return await reader.run<DeadLetter>(LIST, [tenantId, afterId, limit]);
    },
    deadLetterPurge: async ({ tenantId, ids }) => (await engine.run(PURGE_LETTERS, [tenantId, ids])).length,
    async retentionPurge({ endedBefore, limit }) {
      const before = new Date(endedBefore);
      const params = [before, limit, uuidV7(endedBefore, NO_RANDOM)];
      const [row] = await engine.run<{ purged: number; plans: string }>(PURGE, params);
      const plans = JSON.parse(row!.plans) as { tenant_id: string; workflow_id: string; version: number }[];
      if (plans.length > 0) {
        const keys = [plans.map((one) => one.tenant_id), plans.map((one) => one.workflow_id)];
        await engine.run(PURGE_PLANS, [...keys, plans.map((one) => one.version)]);
      }
      await engine.run(PURGE_RUNNERS, []);
      return row!.purged;
    },
    async now() {
      const [row] = await engine.run<{ at: Timestamp }>(NOW, []);
      return row!.at;
    },
    async secretGet({ name }) {
      await engine.run(CREATE_SECRET, [name, randomBytes(SECRET_BYTES)]);
      const [row] = await engine.run<{ value: Buffer }>(GET_SECRET, [name]);
      return new Uint8Array(row!.value);
    },
  };
}

// Executions: start, claim, commit, park, release. Each method is one statement; start looks up what it did not insert.

import {
  type ExecutionStore,
  type NewExecution,
  type OwnedExecution,
  type OwnedStart,
  type ParkItem,
  type StartOutcome,
  SUSPICIOUS_CRASHES,
  type Timestamp,
} from '../port.ts';
import {
  bool,
  encodeColumn,
  encodeColumns,
  int2,
  int4,
  json,
  text,
  timestamp,
  uuid,
  uuidArray,
} from './array-parameter.ts';
import type { EngineDatabase, Session } from './database.ts';
import { claimOf } from './execution-claim.ts';
import { EXECUTION_COLUMNS, LINK_COLUMNS, MESSAGE_COLUMNS } from './execution-columns.ts';
import { commitExecutions } from './execution-commit.ts';
import { loadExecutions } from './execution-load.ts';
import { statement } from './statement.ts';

const START = statement('execution_start');
const EXISTING = statement('execution_existing');
const CLAIM = statement('execution_claim');
const INPUTS = statement('execution_inputs');
const PARK = statement('execution_park');
const PARK_CHECK = statement('park_check');
const RELEASE = statement('execution_release');
const LIST_OWNED = statement('execution_list_owned');
const LINK_CHECK = statement('resource_link_check');
const LINK_RESERVE = statement('resource_link_reserve');
const REOPEN = statement('execution_reopen');

const LANE_COLUMNS = [
  text((lane: Lane) => lane.tenantId),
  int2((lane: Lane) => lane.priority),
  timestamp((lane: Lane) => lane.mark),
];

const epochOf = ({ epoch }: OwnedExecution): number | null => epoch;

const PARK_COLUMNS = [
  uuid((item: ParkItem) => item.executionId),
  timestamp((item: ParkItem) => item.dueAt),
  int2((item: ParkItem) => item.waits),
  bool((item: ParkItem) => item.paused),
];

const CHECKPOINT_COLUMNS = [
  uuid((row: Checkpoint) => row.executionId),
  int4((row: Checkpoint) => row.seq),
  int4((row: Checkpoint) => row.deciderVersion),
  json((row: Checkpoint) => row.state),
];

export function executionStore(engine: EngineDatabase): ExecutionStore {
  return {
    executionStart: async ({ items }) => (await startExecutions(engine, items)).outcomes,
    executionStartOwned: ({ slotId, items }) => startExecutions(engine, items, slotId),
    executionLoad: (params) => loadExecutions(engine, params),
    executionCommit: (batch) => commitExecutions(engine, batch),
    async executionClaim({ slotId, lanes, perLane, limit, behaviour, maxCrashes = MANY_CRASHES, suspects, except }) {
      const left = except?.map(({ tenantId, workflowId }) => `${tenantId}/${workflowId}`) ?? null;
      const { atMost = MANY_CRASHES, lastChance = MANY_CRASHES } = suspects ?? {};
      const crashes = [maxCrashes, left, atMost, lastChance, SUSPICIOUS_CRASHES];
      const values = [slotId, ...encodeColumns(LANE_COLUMNS, lanes), perLane, limit, behaviour, ...crashes];
      return claimOf(await engine.runRaw(CLAIM, values));
    },
    async executionInputs({ executionId, seqs }) {
      return engine.run(INPUTS, [executionId, encodeColumn(int4(itself<number>), seqs)]);
    },
    async executionPark({ slotId, items }) {
      const checkpoints = items.flatMap(({ executionId, checkpoint }) =>
        checkpoint ? [{ executionId, ...checkpoint }] : [],
      );
      const epochs = encodeColumn(int4(epochOf), items);
      const parts = [...encodeColumns(PARK_COLUMNS, items), ...encodeColumns(CHECKPOINT_COLUMNS, checkpoints)];
      const values = [slotId, ...parts, epochs];
      const [row] = await engine.run<{ parked: string[]; at: Timestamp }>(PARK, values);
      return row!;
    },
    parkCheck: async ({ executionIds }) => idsOf(await engine.run(PARK_CHECK, [uuidArray(executionIds)])),
    async executionRelease({ slotId, items }) {
      const ids = uuidArray(items.map(({ executionId }) => executionId));
      return idsOf(await engine.run(RELEASE, [slotId, ids, encodeColumn(int4(epochOf), items)]));
    },
    async executionListOwned({ runnerId }) {
      const rows = await engine.run<{ execution_id: string; epoch: number }>(LIST_OWNED, [runnerId]);
      return rows.map(({ execution_id, epoch }) => ({ executionId: execution_id, epoch }));
    },
    async resourceLinkCheck({ links }) {
      const columns = encodeColumns(LINK_COLUMNS, links);
      await engine.run(LINK_RESERVE, columns);
      const rows = await engine.run<LinkRow>(LINK_CHECK, columns.slice(0, 5));
      return rows.map((row) => ({
        system: row.system_name,
        resourceType: row.resource_type,
        resourceId: row.resource_id,
        executionId: row.execution_id,
      }));
    },
    async executionReopen({ tenantId, executionId, message, more = [] }) {
      const mail = [message?.id ?? null, message?.kind ?? null, message?.key ?? null, message?.body ?? null];
      const [ids, , , keys, bodies] = encodeColumns(MESSAGE_COLUMNS, more);
      const [row] = await engine.run<{ reopened: boolean }>(REOPEN, [
        executionId,
        tenantId,
        ...mail,
        ids,
        keys,
        bodies,
      ]);
      return row!;
    },
  };
}

/**
 * What was not inserted lost to an equal request id, which a new statement finds; unless the winner was rolled back
 * meanwhile: then it is tried again. Sorted, so that two batches with the same request ids wait for each other in one order.
 * `slotId`: of the runner that shall own what is new; null: it is ready for anybody.
 */
export async function startExecutions(
  engine: Session,
  items: NewExecution[],
  slotId: string | null = null,
): Promise<OwnedStart> {
  const existing = new Map<string, StartOutcome['existing']>();
  const owned: string[] = [];
  let at = 0;
  let open = items.toSorted(byRequest);
  while (open.length > 0) {
    const values = [...encodeColumns(EXECUTION_COLUMNS, open), encodeColumn(IF_CURRENT, open), slotId];
    const rows = await engine.run<StartRow>(START, values);
    const accepted = rows.flatMap(({ id }) => id ?? []);
    for (const id of accepted) existing.set(id, null);
    if (rows[0]!.is_owned) owned.push(...accepted);
    at = rows[0]!.at;
    open = open.filter((item) => !existing.has(item.executionId));
    if (open.length === 0) break;

    const [ids, tenants] = encodeColumns(EXECUTION_COLUMNS, open);
    const requests = encodeColumn(
      text((item: NewExecution) => item.requestId),
      open,
    );
    for (const found of await engine.run<ExistingRow>(EXISTING, [ids, tenants, requests])) {
      const itsOwn = found.execution_id === found.wanted_id;
      existing.set(found.wanted_id, itsOwn ? null : { executionId: found.execution_id, workflowId: found.workflow_id });
    }
    // In nobody's way and yet not there: the version is not what it was taken for. Whoever sent it asks and comes again.
    open = open.filter((item) => !existing.has(item.executionId) && item.ifCurrent !== true);
  }
  const outcomes = items.map(({ executionId }): StartOutcome => {
    const found = existing.get(executionId);
    return found === undefined ? { executionId, existing: null, stale: true } : { executionId, existing: found };
  });
  return { outcomes, owned, at };
}

const IF_CURRENT = bool((item: NewExecution) => item.ifCurrent === true);

function byRequest(a: NewExecution, b: NewExecution): number {
  const [left, right] = [a.requestId ?? '', b.requestId ?? ''];
  return left < right ? -1 : left > right ? 1 : 0;
}

const itself = <Value>(value: Value): Value => value;
const idsOf = (rows: { execution_id: string }[]): string[] => rows.map((row) => row.execution_id);

/** No limit: the largest smallint. */
const MANY_CRASHES = 32_767;

type Lane = Parameters<ExecutionStore['executionClaim']>[0]['lanes'][number];
type Checkpoint = NonNullable<ParkItem['checkpoint']> & { executionId: string };

interface StartRow {
  /** Null: nothing was accepted. */
  id: string | null;
  is_owned: boolean;
  at: Timestamp;
}

interface ExistingRow {
  wanted_id: string;
  execution_id: string;
  workflow_id: string;
}

interface LinkRow {
  system_name: string;
  resource_type: string;
  resource_id: string;
  execution_id: string;
}

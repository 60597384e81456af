// Executions: start, claim, commit, park, release. Each method is one statement; start looks up the rows it did not insert.

import {
  type ClaimedExecution,
  type ClaimResult,
  type ExecutionStore,
  MANY_CRASHES,
  type NewExecution,
  type OwnedExecution,
  type OwnedStart,
  PARKED_FOR,
  type ParkItem,
  type StartOutcome,
  SUSPICIOUS_CRASHES,
  type Timestamp,
} from '../../port.ts';
import { bool, encodeColumn, encodeColumns, int2, int4, json, text, timestamp, uuidArray } from '../array-parameter.ts';
import { EXECUTION, LINK, MESSAGE } from '../column-list.ts';
import type { Database, Session } from '../database.ts';
import { statement } from '../statement.ts';
import { commitExecutions } from './execution-commit.ts';
import { loadExecutions, loadedExecution } from './execution-load.ts';

const START = statement('execution_start');
const START_EXTERNAL = statement('external_start');
const START_HELD = statement('execution_start_held');
const EXISTING = statement('execution_existing');
const CLAIM = statement('execution_claim');
const LOAD_BYTES = statement('execution_load_bytes');
const INPUTS = statement('execution_inputs');
const PARK = statement('execution_park');
const PARK_CHECK = statement('park_check');
const RELEASE = statement('execution_release');
const LIST_OWNED = statement('execution_list_owned');
const LINK_CHECK = statement('resource_link_check');
const LINK_RESERVE = statement('resource_link_reserve');
const REOPEN = statement('execution_reopen');

export function executionStore(engine: Database): ExecutionStore {
  return {
    executionStart: async ({ items }) => (await startExecutions(engine, items)).outcomes,
    executionStartOwned: ({ slotId, items }) => startExecutions(engine, items, slotId),
    executionLoad: (params) => loadExecutions(engine, params),
    executionCommit: (batch) => commitExecutions(engine, batch),
    async executionClaim({
      slotId,
      lanes,
      perLane,
      limit,
      behaviour,
      maxCrashes = MANY_CRASHES,
      suspects,
      alone = false,
      except,
    }) {
      const { atMost = MANY_CRASHES, lastChance = MANY_CRASHES } = suspects ?? {};
      const rows = await engine.run<ClaimRow>(CLAIM, {
        ...{ slotId, perLane, limit, behaviour, maxCrashes, lastChance, alone },
        tenants: encodeColumn(TENANT, lanes),
        priorities: encodeColumn(PRIORITY, lanes),
        marks: encodeColumn(MARK, lanes),
        except: except?.map(({ tenantId, workflowId }) => `${tenantId}/${workflowId}`),
        suspects: atMost,
        suspicious: SUSPICIOUS_CRASHES,
      });
      return claimOf(rows);
    },
    executionLoadBytes: ({ executionIds }) => engine.run(LOAD_BYTES, { executionIds: uuidArray(executionIds) }),
    executionInputs: ({ items }) =>
      engine.run(INPUTS, { executionIds: idArray(items), seqs: encodeColumn(SEQ, items) }),
    executionPark: (params) => parkExecutions(engine, params),
    parkCheck: async ({ executionIds }) =>
      idsOf(await engine.run(PARK_CHECK, { executionIds: uuidArray(executionIds) })),
    async executionRelease({ slotId, items }) {
      const values = { slotId, executionIds: idArray(items), epochs: encodeColumn(EPOCH, items) };
      return idsOf(await engine.run(RELEASE, values));
    },
    executionListOwned: (params) => engine.run<OwnedExecution>(LIST_OWNED, params),
    async resourceLinkCheck({ links }) {
      const values = { links: encodeColumns(LINK, links) };
      await engine.run(LINK_RESERVE, values);
      return engine.run(LINK_CHECK, values);
    },
    async executionReopen({ tenantId, executionId, message, more = [] }) {
      const [moreIds, , , moreKeys, moreBodies] = encodeColumns(MESSAGE, more);
      const [row] = await engine.run<{ reopened: boolean }>(REOPEN, {
        ...{ executionId, tenantId, moreIds, moreKeys, moreBodies },
        ...{ messageId: message?.id, kind: message?.kind, key: message?.key, body: message?.body },
      });
      return row!;
    },
  };
}

async function parkExecutions(
  engine: Session,
  { slotId, items }: { slotId: string; items: ParkItem[] },
): Promise<{ parked: string[]; at: Timestamp }> {
  const checkpoints = items.flatMap(({ executionId, checkpoint }) =>
    checkpoint ? [{ executionId, ...checkpoint }] : [],
  );
  const [row] = await engine.run<{ parked: string[]; at: Timestamp }>(PARK, {
    slotId,
    executionIds: idArray(items),
    epochs: encodeColumn(EPOCH, items),
    dueAts: encodeColumn(DUE_AT, items),
    waits: encodeColumn(WAITS, items),
    paused: encodeColumn(PAUSED, items),
    parkedFor: encodeColumn(PARKED_BITS, items),
    checkpointIds: idArray(checkpoints),
    checkpointSeqs: encodeColumn(SEQ, checkpoints),
    deciderVersions: encodeColumn(DECIDER_VERSION, checkpoints),
    states: encodeColumn(STATE, checkpoints),
  });
  return row!;
}

/**
 * A row that was not inserted lost to an equal request id, which a new statement finds; if the winner was rolled back
 * meanwhile, the insert is tried again. Sorted, so that two batches with the same request ids wait in one order. `slotId`:
 * the runner that will own new rows; null: they are ready for any.
 */
export async function startExecutions(
  engine: Session,
  items: NewExecution[],
  slotId: string | null = null,
): Promise<OwnedStart> {
  const existing = new Map<string, StartOutcome['existing']>();
  const owned: string[] = [];
  let at = 0;
  const kind = kindOf(items[0]);
  if (items.some((item) => kindOf(item) !== kind)) return startApart(engine, items, slotId);
  let open = items.toSorted(byRequest);
  while (open.length > 0) {
    const given = { given: encodeColumns(EXECUTION, open), ifCurrent: encodeColumn(IF_CURRENT, open) };
    const rows =
      kind === 'here'
        ? await engine.run<StartRow>(START, { ...given, slotId })
        : await engine.run<StartRow>(kind === 'held' ? START_HELD : START_EXTERNAL, {
            ...given,
            ...(kind === 'held' ? {} : { drivers: encodeColumn(DRIVER, open) }),
            waits: encodeColumn(HOLD_MS, open),
            bits: encodeColumn(HOLD_BITS, open),
          });
    const accepted = rows.flatMap(({ id }) => id ?? []);
    for (const id of accepted) existing.set(id, null);
    if (rows[0]!.isOwned) owned.push(...accepted);
    at = rows[0]!.at;
    open = open.filter((item) => !existing.has(item.executionId));
    if (open.length === 0) break;

    const wanted = {
      executionIds: idArray(open),
      tenantIds: encodeColumn(TENANT, open),
      requestIds: encodeColumn(REQUEST, open),
    };
    for (const found of await engine.run<ExistingRow>(EXISTING, wanted)) {
      const itsOwn = found.executionId === found.wantedId;
      existing.set(found.wantedId, itsOwn ? null : { executionId: found.executionId, workflowId: found.workflowId });
    }
    // Neither inserted nor in conflict: `ifCurrent` failed. The caller looks up the version and retries.
    open = open.filter((item) => !existing.has(item.executionId) && item.ifCurrent !== true);
  }
  const outcomes = items.map(({ executionId }): StartOutcome => {
    const found = existing.get(executionId);
    return found === undefined ? { executionId, existing: null, stale: true } : { executionId, existing: found };
  });
  return { outcomes, owned, at };
}

/** Ready, waiting and external executions are inserted by different statements. */
async function startApart(engine: Session, items: NewExecution[], slotId: string | null): Promise<OwnedStart> {
  const parts: OwnedStart[] = [];
  for (const kind of ['here', 'held', 'outside']) {
    const some = items.filter((item) => kindOf(item) === kind);
    if (some.length > 0) parts.push(await startExecutions(engine, some, slotId));
  }
  const byId = new Map(parts.flatMap(({ outcomes }) => outcomes).map((outcome) => [outcome.executionId, outcome]));
  const outcomes = items.map(({ executionId }) => byId.get(executionId)!);
  return { outcomes, owned: parts.flatMap(({ owned }) => owned), at: parts.at(-1)!.at };
}

function kindOf(item: NewExecution | undefined): 'here' | 'held' | 'outside' {
  if ((item?.driver ?? null) !== null) return 'outside';
  return item?.hold === undefined ? 'here' : 'held';
}

const HOLD_MS = int4((item: NewExecution) => item.hold?.waitMs ?? 0);
const HOLD_BITS = int2(({ hold }: NewExecution) =>
  hold === undefined ? PARKED_FOR.sleep : PARKED_FOR[hold.policy === 'DELAY' ? 'delayed' : 'queued'],
);

const DRIVER = text((item: NewExecution) => item.driver ?? null);
const IF_CURRENT = bool((item: NewExecution) => item.ifCurrent === true);
const REQUEST = text((item: NewExecution) => item.requestId);
const TENANT = text((item: { tenantId: string }) => item.tenantId);
const PRIORITY = int2((lane: Lane) => lane.priority);
const MARK = timestamp((lane: Lane) => lane.mark);
const EPOCH = int4((item: OwnedExecution) => item.epoch);
const SEQ = int4((item: { seq: number }) => item.seq);
const DUE_AT = timestamp((item: ParkItem) => item.dueAt);
const WAITS = int2((item: ParkItem) => item.waits);
const PAUSED = bool((item: ParkItem) => item.paused);
const PARKED_BITS = int2((item: ParkItem) => item.parkedFor);
const DECIDER_VERSION = int4((row: Checkpoint) => row.deciderVersion);
const STATE = json((row: Checkpoint) => row.state);

function byRequest(a: NewExecution, b: NewExecution): number {
  const [left, right] = [a.requestId ?? '', b.requestId ?? ''];
  return left < right ? -1 : left > right ? 1 : 0;
}

const idsOf = (rows: readonly { executionId: string }[]): string[] => rows.map(({ executionId }) => executionId);
const idArray = (items: readonly { executionId: string }[]): Buffer => uuidArray(idsOf(items));

type Lane = Parameters<ExecutionStore['executionClaim']>[0]['lanes'][number];
type Checkpoint = NonNullable<ParkItem['checkpoint']>;

interface StartRow {
  /** Null: nothing was accepted. */
  id: string | null;
  isOwned: boolean;
  at: Timestamp;
}

interface ExistingRow {
  wantedId: string;
  executionId: string;
  workflowId: string;
}

/** A row of execution_claim. A first claim without mail brings the whole execution; any other brings only the columns a claim needs. */
type ClaimRow = Omit<ClaimedExecution, 'execution'> & NewExecution & Always;

interface Always {
  at: Timestamp;
  /** `priority:tenant` */
  leftAlone: string | null;
}

/** The statement always returns a row, because the caller also needs its time. */
function claimOf(rows: readonly ClaimRow[]): ClaimResult {
  const [first] = rows as readonly (ClaimRow | ({ executionId: null } & Always))[];
  const { executionId, at, leftAlone } = first!;
  return { claimed: executionId === null ? [] : rows.map(claimedExecution), at, leftAlone: laneOf(leftAlone) };
}

function laneOf(text: string | null): ClaimResult['leftAlone'] {
  if (text === null) return null;
  const colon = text.indexOf(':');
  return { priority: Number(text.slice(0, colon)), tenantId: text.slice(colon + 1) };
}

function claimedExecution(row: ClaimRow): ClaimedExecution {
  const { executionId, tenantId, workflowId, version, priority, epoch, crashes, readyAt } = row;
  const execution = row.format === null ? null : loadedExecution(row);
  return { executionId, tenantId, workflowId, version, priority, epoch, crashes, readyAt, execution };
}

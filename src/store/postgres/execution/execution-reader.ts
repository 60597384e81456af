// Reading: what people and programs ask, on the read pool.

import { signalKey } from '../../../core/decider/signal-type.ts';
import { BUS_KINDS } from '../../../protocol/consumer-kind.ts';
import { Gathering } from '../../gathering.ts';
import type { AttemptRow, JsonText, Timestamp } from '../../port.ts';
import type { CallbackTarget, ExecutionReader, ExecutionView, FoundText, StoreHealth } from '../../reader-port.ts';
import { unwalled } from '../../tenant-scope.ts';
import type { Database } from '../database.ts';
import { type Statement, statement } from '../statement.ts';
import {
  attemptCounts,
  briefExecutions,
  executionStandings,
  listExecutions,
  liveNow,
  pageOfExecutions,
  pageOfWaiting,
  viewed,
} from './execution-list.ts';

const GET = statement('execution_get');
const GET_MANY = statement('execution_get_many');
const KNOWN = statement('execution_known');
const ENDED = statement('execution_ended');
const HEADS = statement('execution_heads');
const TENANT = statement('execution_tenant');
const REQUEST_TENANT = statement('request_tenant');
const CALLBACK = statement('callback_target');
const BY_REQUEST = statement('execution_by_request');
const CHILDREN = statement('execution_children');
const ATTEMPTS = statement('execution_attempts');
const PARAMETERS = statement('execution_parameters');
const ATTEMPT_PAGE = statement('execution_attempt_page');
const ATTEMPT_COUNT = statement('execution_attempt_count');
const WEIGHT = statement('execution_weight');
const JOURNAL = statement('execution_journal');
const JOURNAL_FROM = statement('execution_journal_from');
const TREE = statement('execution_tree');
const RESOURCES = statement('resource_list');
const LINKS = statement('execution_links');
const BUSY = statement('execution_busy');
const DEPTH = statement('queue_depth');
const HEALTH = statement('store_health');
const FIND = statement('find_text');
const LOGS = statement('execution_logs');
const NODE_ATTEMPTS = statement('node_attempts');
const ATTEMPT_WAITS = statement('attempt_waits');
const LAST_ATTEMPTS = statement('nodes_last_attempts');
const NODE_LOGS = statement('node_logs');
const ACCEPTED_SIGNALS = statement('signal_accepted');
const SIGNAL_FACTS = statement('signal_facts');
const FIND_RESOURCE = statement('resource_find');

const MAX_CALLBACKS = 256;

async function callbackTargets(
  reader: Database,
  asked: readonly { executionId: string; nodeId: string }[],
): Promise<(CallbackTarget | null)[]> {
  const executionIds = asked.map(({ executionId }) => executionId);
  const nodeIds = asked.map(({ nodeId }) => nodeId);
  const found: (CallbackTarget | null)[] = asked.map(() => null);
  const rows = await reader.run<CallbackTarget & { place: number }>(CALLBACK, { executionIds, nodeIds });
  for (const { place, ...target } of rows) found[place - 1] = target;
  return found;
}

/** Each may be as large as a result. */
const MAX_VIEWS = 32;

/** What is asked about executions of one tenant in one moment shares a statement. */
function gatheredGet(reader: Database, soon: (callback: () => void) => void): ExecutionReader['executionGet'] {
  const byTenant = new Map<string, Gathering<string, ExecutionView | null>>();
  return ({ tenantId, executionId }) => {
    let gathering = byTenant.get(tenantId);
    if (gathering === undefined) {
      const flush = (callback: () => void) =>
        soon(() => {
          byTenant.delete(tenantId);
          callback();
        });
      gathering = new Gathering({ soon: flush }, MAX_VIEWS, (ids: string[]) => viewsOf(reader, tenantId, ids));
      byTenant.set(tenantId, gathering);
    }
    return gathering.ask(executionId);
  };
}

async function viewsOf(reader: Database, tenantId: string, ids: readonly string[]): Promise<(ExecutionView | null)[]> {
  const [first] = ids;
  const rows =
    ids.length === 1
      ? await reader.run<ExecutionView>(GET, { executionId: first, tenantId })
      : await reader.run<ExecutionView>(GET_MANY, { executionIds: ids, tenantId });
  const found = new Map(rows.map((row) => [row.executionId, viewed(row)]));
  return ids.map((id) => found.get(id.toLowerCase()) ?? null);
}

export function executionReader(reader: Database): ExecutionReader {
  const soon = (callback: () => void) => void setImmediate(callback);
  const callbacks = new Gathering({ soon }, MAX_CALLBACKS, (asked: { executionId: string; nodeId: string }[]) =>
    callbackTargets(reader, asked),
  );
  return {
    executionGet: gatheredGet(reader, soon),
    ...awaited(reader, soon),
    async requestTenant(params) {
      const [row] = await reader.run<{ tenantId: string }>(REQUEST_TENANT, params);
      return row?.tenantId ?? null;
    },
    async executionTenant(params) {
      const [row] = await reader.run<{ tenantId: string }>(TENANT, params);
      return row?.tenantId ?? null;
    },
    callbackTarget: (params) => callbacks.ask(params),
    async executionByRequest(params) {
      const [row] = await reader.run<{ id: string }>(BY_REQUEST, params);
      return row?.id ?? null;
    },
    ...executionLists(reader),
    nodesLastAttempts: (params) => reader.run<AttemptRow>(LAST_ATTEMPTS, { ...params, nodeIds: [...params.nodeIds] }),
    async nodeAttempts(params) {
      return (await reader.run<AttemptRow>(NODE_ATTEMPTS, params)).reverse();
    },
    attemptWaits: (params) => reader.run(ATTEMPT_WAITS, params),
    nodeLogs: (params) => reader.run(NODE_LOGS, params),
    findText: ({ tenantId, text, uuid }) => reader.run<FoundText>(FIND, [tenantId, text, uuid]),
    executionChildren: async ({ executionId, offset = 0, limit }) =>
      (await reader.run<ExecutionView>(CHILDREN, { executionId, offset, limit })).map(viewed),
    async executionAttemptCount(params) {
      const [row] = await reader.run<{ count: number }>(ATTEMPT_COUNT, params);
      return row!.count;
    },
    async executionWeight(params) {
      const [row] = await reader.run<{ bytes: number }>(WEIGHT, params);
      return row!.bytes;
    },
    executionAttemptPage: (params) => reader.run(ATTEMPT_PAGE, params),
    async executionAttempts({ executionId, parameters = false, nodeIds }) {
      const attempts = await reader.run<AttemptRow>(ATTEMPTS, { executionId, nodeIds });
      const inputs = parameters ? await reader.run<InputsRow>(PARAMETERS, { executionId }) : [];
      const parametersOf = parameterLookup(inputs);
      return attempts.map((row) => ({ ...row, parameters: parametersOf(row.nodeId, row.startedSeq) }));
    },
    executionJournal: (params) => reader.run(JOURNAL, params),
    executionJournalFrom: (params) => reader.run(JOURNAL_FROM, params),
    executionTree: (params) => reader.run(TREE, params),
    signalMissed: ({ executionId }) => missedSignals(reader, executionId),
    executionLinks: ({ executionId, offset = 0, limit }) => reader.run(LINKS, { executionId, offset, limit }),
    executionBusy: ({ longerThanMs, limit }) => reader.run(BUSY, [longerThanMs, limit]),
    // These two are about the installation, whoever asks for them.
    queueDepth: () => unwalled(() => reader.run(DEPTH, [])),
    async storeHealth() {
      const [row] = await unwalled(() => reader.run<StoreHealth>(HEALTH, { busKinds: BUS_KINDS }));
      return row!;
    },
    executionLogs: (params) => reader.run(LOGS, params),
    resourceList: ({ after, ...params }) => {
      const place = { afterSystem: after.system, afterType: after.resourceType, afterId: after.resourceId };
      return reader.run(RESOURCES, { ...params, ...place });
    },
    resourceFind: (params) => firstOf(reader.run<FoundResource>(FIND_RESOURCE, params)),
  };
}

const firstOf = async <Row>(rows: Promise<readonly Row[]>): Promise<Row | null> => (await rows)[0] ?? null;

type Lists =
  | 'waitingPage'
  | 'liveNow'
  | 'executionPage'
  | 'executionList'
  | 'executionBrief'
  | 'executionStandings'
  | 'attemptCounts';

const executionLists = (reader: Database): Pick<ExecutionReader, Lists> => ({
  waitingPage: (filter) => pageOfWaiting(reader, filter),
  liveNow: ({ tenantId, limit }) => liveNow(reader, tenantId, limit),
  executionPage: ({ maxLooked, ...filter }) => pageOfExecutions(reader, filter, maxLooked),
  executionList: ({ ids }) => listExecutions(reader, ids),
  executionBrief: ({ ids }) => briefExecutions(reader, ids),
  executionStandings: ({ ids }) => executionStandings(reader, ids),
  attemptCounts: ({ nodes }) => attemptCounts(reader, nodes),
});

const MAX_PARENTS = 64;

/** For those who wait for executions, all at once and of whichever tenant. */
function awaited(
  reader: Database,
  soon: (callback: () => void) => void,
): Pick<ExecutionReader, 'executionKnown' | 'executionEnded' | 'executionHeads'> {
  const idsOf = async (command: Statement, params: { executionIds: string[] }) => {
    const rows = await unwalled(() => reader.run<{ executionId: string }>(command, params));
    return rows.map(({ executionId }) => executionId);
  };
  // Many parents that come back at once ask for their children.
  const known = new Gathering({ soon }, MAX_PARENTS, async (asked: string[][]) => {
    const there = new Set(await idsOf(KNOWN, { executionIds: asked.flat() }));
    return asked.map((ids) => ids.filter((id) => there.has(id)));
  });
  return {
    executionKnown: ({ executionIds }) => known.ask(executionIds),
    executionEnded: (params) => idsOf(ENDED, params),
    executionHeads: (params) => unwalled(() => reader.run(HEADS, params)),
  };
}

async function missedSignals(reader: Database, executionId: string): Promise<{ body: JsonText; at: Timestamp }[]> {
  const accepted = await reader.run<SignalRow>(ACCEPTED_SIGNALS, [executionId]);
  if (accepted.length === 0) return [];
  const facts = await reader.run<{ fact: JsonText }>(SIGNAL_FACTS, [executionId]);
  const told = new Set(facts.map(({ fact }) => signalKey(JSON.parse(fact))));
  return accepted.filter(({ signalId: key }) => !told.has(key)).map(({ body, at }) => ({ body, at }));
}

/**
 * What a node was given: recorded with the transition that started it, and reused by retries, so the latest that is not newer
 * than the attempt. Taken apart here, because PostgreSQL's operators refuse values that json itself can hold.
 */
function parameterLookup(inputs: InputsRow[]): (nodeId: string, startedSeq: number) => JsonText | null {
  const recorded = new Map<string, { seq: number; parameters: JsonText }[]>();
  for (const { seq, inputs: text } of inputs) {
    for (const [nodeId, value] of Object.entries(JSON.parse(text) as Record<string, unknown>)) {
      const earlier = recorded.get(nodeId) ?? [];
      recorded.set(nodeId, [...earlier, { seq, parameters: JSON.stringify(value) }]);
    }
  }
  return (nodeId, startedSeq) => recorded.get(nodeId)?.findLast(({ seq }) => seq <= startedSeq)?.parameters ?? null;
}

type FoundResource = NonNullable<Awaited<ReturnType<ExecutionReader['resourceFind']>>>;

interface SignalRow {
  signalId: string;
  body: JsonText;
  at: Timestamp;
}

interface InputsRow {
  seq: number;
  inputs: JsonText;
}

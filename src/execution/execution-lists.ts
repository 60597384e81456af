// Lists of executions: complete, or as table rows with the reason each waits and the status counts of its nodes. Reads only,
// within one tenant (S1).

import { allNodes, idOf } from '../core/decider/frame.ts';
import type { NodeStatus } from '../core/decider/state.ts';
import type { Why } from '../protocol/execution.ts';
import type { ExecutionFilters } from '../protocol/execution-list.ts';
import type { Store } from '../store/port.ts';
import type {
  BriefExecution,
  ExecutionFilter,
  ExecutionPage,
  ExecutionStanding,
  ListedExecution,
} from '../store/reader-port.ts';
import type { PlanSource } from '../workflow/plan-cache.ts';
import { foldFacts } from './fact-fold.ts';

export interface ExecutionListsDeps {
  readonly store: Store;
  readonly plans: PlanSource;
}

/** A filter as people give it; parts of it must be looked up first. */
export type WantedExecutions = ExecutionFilter & Pick<ExecutionFilters, 'requestId' | 'resource'>;

export type NodeCounts = Partial<Record<NodeStatus, number>>;

export interface ExecutionRow extends BriefExecution {
  readonly why: Why | null;
  readonly standing: ExecutionStanding | null;
  /** For an execution that ended with a node's error: the attempts of that node. */
  readonly attempts: number | null;
  readonly nodes?: NodeCounts;
}

export interface OpenWait {
  readonly view: BriefExecution;
  readonly nodeId: string;
  readonly since: number;
  readonly until: number | null;
}

/** With this many matches, people want to know which, not how many more. */
const MAX_COUNT = 1_000;

/** The payload bytes of one page, and the number of executions per read: wasted reads are bounded, too. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const CHUNK = 25;

const bytesOf = ({ trigger, spec, outputs, error }: ListedExecution): number =>
  trigger.length + (spec?.length ?? 0) + (outputs?.length ?? 0) + (error?.length ?? 0);

export class ExecutionLists {
  private readonly deps: ExecutionListsDeps;

  constructor(deps: ExecutionListsDeps) {
    this.deps = deps;
  }

  async page(wanted: WantedExecutions): Promise<ExecutionPage> {
    const filter = await this.resolved(wanted);
    return filter === null ? { ids: [], searchedTo: null } : this.deps.store.executionPage(filter);
  }

  /** For the whole list, independent of the page. */
  async count(wanted: WantedExecutions): Promise<{ count: number; isCapped: boolean }> {
    const { ids, searchedTo } = await this.page({ ...wanted, beforeId: null, limit: MAX_COUNT + 1 });
    return { count: Math.min(ids.length, MAX_COUNT), isCapped: ids.length > MAX_COUNT || searchedTo !== null };
  }

  /** In the order of `ids`, as many as fit into an answer, at least one: large payloads make short pages. */
  async full(ids: readonly string[]): Promise<ListedExecution[]> {
    const found: ListedExecution[] = [];
    let bytes = 0;
    for (let at = 0; at < ids.length && bytes < MAX_PAGE_BYTES; at += CHUNK) {
      for (const row of await this.deps.store.executionList({ ids: ids.slice(at, at + CHUNK) })) {
        bytes += bytesOf(row);
        if (bytes >= MAX_PAGE_BYTES && found.length > 0) return found;
        found.push(row);
      }
    }
    return found;
  }

  /** The ids that belong to this tenant (S1). */
  async rowsOf(tenantId: string, ids: readonly string[]): Promise<ExecutionRow[]> {
    if (ids.length === 0) return [];
    return (await this.rows(ids)).filter((row) => row.tenantId === tenantId);
  }

  async rows(ids: readonly string[], { withNodes = false } = {}): Promise<ExecutionRow[]> {
    const { store } = this.deps;
    const brief = await store.executionBrief({ ids });
    const live = brief.flatMap(({ executionId, endedAt }) => (endedAt === null ? [executionId] : []));
    const [standings, attempts] = await Promise.all([
      live.length === 0 ? [] : store.executionStandings({ ids: live }),
      store.attemptCounts({ nodes: brief.flatMap(failedNode) }),
    ]);
    const standingOf = new Map(standings.map((standing) => [standing.executionId, standing]));
    const rows: ExecutionRow[] = [];
    for (const view of brief) {
      const standing = standingOf.get(view.executionId) ?? null;
      const why = view.endedAt === null ? (standing?.why ?? null) : null;
      const nodes = withNodes ? await this.nodeCounts(view) : null;
      const counted = { ...(nodes === null ? {} : { nodes }), attempts: attempts.get(view.executionId) ?? null };
      rows.push({ ...view, why, standing, ...counted });
    }
    return rows;
  }

  /** Open callbacks of the executions on one page, newest execution first. */
  async waits(filter: ExecutionFilter): Promise<{ waits: OpenWait[]; page: ExecutionPage }> {
    const page = await this.deps.store.waitingPage(filter);
    const waits: OpenWait[] = [];
    for (const view of await this.deps.store.executionBrief({ ids: page.ids.slice(0, filter.limit - 1) })) {
      const folded = await foldFacts(this.deps, { ...view, trigger: 'null', spec: null });
      if (folded === null) continue;
      for (const [index, node] of allNodes(folded.state)) {
        if (node.status !== 'Waiting' || node.childId !== null || node.loop !== null) continue;
        waits.push({ view, nodeId: idOf(folded.state, index), since: node.startedAt!, until: node.until });
      }
    }
    return { waits, page };
  }

  async standing(executionId: string): Promise<ExecutionStanding | null> {
    const [standing] = await this.deps.store.executionStandings({ ids: [executionId] });
    return standing ?? null;
  }

  /** null: the plan can no longer be loaded. */
  private async nodeCounts(view: BriefExecution): Promise<NodeCounts | null> {
    const folded = await foldFacts(this.deps, { ...view, trigger: 'null', spec: null });
    if (folded === null) return null;
    const counts: NodeCounts = {};
    for (const { status } of folded.state.nodes) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  /** null: a named object does not exist, so nothing matches. */
  private async resolved(wanted: WantedExecutions): Promise<ExecutionFilter | null> {
    const { requestId, resource, ...filter } = wanted;
    const { tenantId } = filter;
    const named: (string | null)[] = [];
    if (requestId !== undefined) named.push(await this.deps.store.executionByRequest({ tenantId, requestId }));
    if (resource !== undefined) {
      named.push((await this.deps.store.resourceFind({ tenantId, ...resource }))?.executionId ?? null);
    }
    let { ids } = filter;
    for (const id of named) {
      if (id === null || (ids !== undefined && !ids.includes(id))) return null;
      ids = [id];
    }
    return { ...filter, ids };
  }
}

function failedNode({ executionId, error }: BriefExecution): { executionId: string; nodeId: string }[] {
  const nodeId = error === null ? undefined : (JSON.parse(error) as { nodeId?: string }).nodeId;
  return nodeId === undefined ? [] : [{ executionId, nodeId }];
}

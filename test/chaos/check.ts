// The check after the storm: compares the acknowledgements with the contents of the database and of the sink, by the numbers of
// the invariants. The acknowledgements come from the file of the ledger, the expectations from the work as it was drawn.

import { compileDefinition } from '../../src/core/definition/compile.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import type { Pawl } from '../../src/main.ts';
import type { OutsideDriver } from '../../src/store/external-port.ts';
import type { Ack } from './ack-ledger.ts';
import { checkEffects } from './check-effects.ts';
import { checkExpectation } from './check-expectation.ts';
import { checkJournal } from './check-journal.ts';
import { checkMail } from './check-mail.ts';
import { checkReplay } from './check-replay.ts';
import type { Effect } from './effect-action.ts';
import type { Evidence, ExecutionRecord } from './evidence.ts';
import type { Violation } from './violation.ts';
import type { Expectation, Work } from './workload.ts';

export interface CheckInput {
  readonly pawl: Pawl;
  readonly evidence: Evidence;
  readonly nodeIds: ReadonlyMap<string, readonly string[]>;
  readonly acks: readonly Ack[];
  readonly works: ReadonlyMap<string, Work>;
  readonly effects: readonly Effect[];
  /** See Excuses. */
  readonly toldToStop: ReadonlySet<string>;
  readonly driver?: OutsideDriver | undefined;
}

const CHUNK = 200;

/** The nodes of each workflow, in the order of their numbers in facts. */
export function nodeIdsOf(definitions: readonly JsonObject[]): Map<string, readonly string[]> {
  return new Map(definitions.map(planOf).map(({ id, nodes }) => [id, nodes.map((node) => node.id)]));
}

/** The nodes that each workflow begins with. */
export function startNodesOf(definitions: readonly JsonObject[]): Map<string, readonly string[]> {
  return new Map(definitions.map(planOf).map(({ id, nodes, start }) => [id, start.map((index) => nodes[index]!.id)]));
}

function planOf(definition: JsonObject): Plan {
  const compiled = compileDefinition(definition);
  if (!compiled.ok) throw new Error(`a test workflow is not valid: ${JSON.stringify(compiled.problems)}`);
  return compiled.plan;
}

export async function check(input: CheckInput): Promise<Violation[]> {
  const { pawl, evidence, acks } = input;
  const violations: Violation[] = [];
  const acksOf = Map.groupBy(acks, ({ executionId }) => executionId);
  const effectsOf = Map.groupBy(input.effects, ({ executionId }) => executionId);
  const { toldToStop } = input;
  const excuses = { deadRunners: await evidence.deadRunners(), toldToStop, isForeign: input.driver !== undefined };
  const expected = await expectations(input, violations);
  const ids = [...new Set([...expected.keys(), ...(await evidence.executionIds())])];
  for (let start = 0; start < ids.length; start += CHUNK) {
    const chunk = ids.slice(start, start + CHUNK);
    const records = await evidence.records(chunk);
    for (const executionId of chunk) {
      const record = records.get(executionId);
      if (record === undefined) {
        violations.push({ invariant: 'I1', executionId, what: 'was acknowledged and does not exist' });
        continue;
      }
      const nodes = input.nodeIds.get(record.workflowId)!;
      violations.push(
        ...checkJournal(record, nodes),
        ...checkMail(record, nodes, acksOf.get(executionId) ?? []),
        ...checkEffects(record, nodes, effectsOf.get(executionId) ?? [], excuses),
        ...(await checkReplay(pawl, record)),
      );
      const expectation = expected.get(executionId);
      if (expectation !== undefined) violations.push(...checkExpectation(record, nodes, expectation));
    }
  }
  for (const row of await pawl.store.queueAudit()) {
    violations.push({ invariant: 'I12', executionId: row.executionId, what: row.problem });
  }
  for (const row of await evidence.unfinished()) {
    const executionId = String(row.execution_id);
    violations.push({ invariant: 'I12', executionId, what: 'has not ended', evidence: row });
  }
  for (const row of await evidence.deadLetters()) {
    const executionId = String(row.execution_id);
    violations.push({ invariant: 'I20', executionId, what: 'an innocent is in the dead letters', evidence: row });
  }
  return violations;
}

/**
 * By execution: the expectation of the work that was started, and for children the expectation from the work of their
 * parents.
 */
async function expectations({ acks, works, evidence }: CheckInput, violations: Violation[]) {
  const found = new Map<string, Expectation>();
  const workOf = new Map<string, string>();
  for (const ack of acks) {
    if (ack.type !== 'started') continue;
    found.set(ack.executionId, works.get(ack.workId)!.expected);
    const other = workOf.get(ack.executionId);
    if (other !== undefined && other !== ack.workId) {
      const what = `was the answer to two requests: ${other} and ${ack.workId}`;
      violations.push({ invariant: 'I1', executionId: ack.executionId, what });
    }
    workOf.set(ack.executionId, ack.workId);
  }
  const parents = [...found].filter(([, { children }]) => children !== undefined);
  const rows = await evidence.children(parents.map(([executionId]) => executionId));
  const records = await evidence.records(rows.map(({ executionId }) => executionId));
  const childrenOf = Map.groupBy(rows, ({ parentId }) => parentId);
  for (const [parentId, { children, childrenOptional }] of parents) {
    const actual = (childrenOf.get(parentId) ?? []).map(({ executionId }) => records.get(executionId)!);
    for (const [nodeId, expectation] of Object.entries(children!)) {
      const own: ExecutionRecord[] = actual.filter(({ parentNode }) => parentNode === nodeId);
      if (own.length > 1 || (own.length === 0 && childrenOptional === undefined)) {
        violations.push({ invariant: 'I3', executionId: parentId, what: `${nodeId} has ${own.length} children` });
      }
      for (const { executionId } of own) found.set(executionId, expectation);
    }
  }
  return found;
}

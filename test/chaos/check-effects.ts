// What the outside world saw: no effect without a recorded start (I2), no recorded end without its effect (I1), and keys that
// are stable for a node and shared by no two (I7). An attempt runs again only after its runner was declared dead (I4): a
// graceful stop, a lost reply or a cut connection is no reason (I23).

import type { Effect } from './effect-action.ts';
import type { ExecutionRecord } from './evidence.ts';
import type { Violation } from './violation.ts';

const ACTIONS_OUTSIDE = new Set(['Succeeded', 'Failed', 'RetriableFailure']);

export function checkEffects(
  record: ExecutionRecord,
  nodeIds: readonly string[],
  effects: readonly Effect[],
  deadRunners: ReadonlySet<string>,
): Violation[] {
  const violations: Violation[] = [];
  const { executionId, journal } = record;
  const report = (invariant: string, what: string, evidence: unknown) =>
    violations.push({ invariant, executionId, what, evidence });
  const generations = startsByAttempt(record, nodeIds);
  for (const effect of effects) {
    const { nodeId, attempt, key } = effect;
    const starts = generations.filter(
      (start) => start.nodeId === nodeId && (attempt ?? start.attempt) === start.attempt,
    );
    // Its runner may have died before the start was written, and the execution been stopped before anybody began it again.
    const beganInVain = generations.length === 0 && (effect.runner === null || deadRunners.has(effect.runner));
    if (starts.length === 0 && !beganInVain)
      report('I2', `${nodeId}, attempt ${attempt ?? '?'}, ran and was never started`, { effect, journal });
    const keys = starts.map(({ generation }) => `${executionId}:${nodeId}${generation === 0 ? '' : `:${generation}`}`);
    if (starts.length > 0 && !keys.includes(key))
      report('I7', `${nodeId} ran under the key ${key}, not ${keys}`, effect);
  }
  for (const [what, repeats] of Map.groupBy(effects, ({ key, attempt }) => `${key}, attempt ${attempt}`)) {
    const idle = repeats.slice(0, -1).find(({ runner }) => runner !== null && !deadRunners.has(runner));
    if (idle !== undefined) report('I4', `${what} ran again although ${idle.runner} was never declared dead`, repeats);
  }
  for (const { nodeId, attempt, status, outputs } of record.attempts) {
    const isOutside = generations.some((start) => start.nodeId === nodeId && start.isAction);
    const seen = effects.some((effect) => effect.nodeId === nodeId && (effect.attempt ?? attempt) === attempt);
    if (isOutside && !seen && ACTIONS_OUTSIDE.has(status)) {
      report('I3', `${nodeId}, attempt ${attempt}, ended as ${status} and nobody outside saw it`, outputs);
    }
  }
  return violations;
}

function startsByAttempt({ journal }: ExecutionRecord, nodeIds: readonly string[]) {
  const starts: { nodeId: string; attempt: number; generation: number; isAction: boolean }[] = [];
  let generation = 0;
  for (const fact of journal.flatMap(({ facts }) => facts)) {
    if (fact.type === 'ExecutionReopened') generation = fact.generation;
    if (fact.type !== 'NodeStarted') continue;
    const { node, attempt, childId } = fact;
    starts.push({ nodeId: nodeIds[node]!, attempt, generation, isAction: childId === undefined });
  }
  return starts;
}

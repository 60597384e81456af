// What the outside world saw: no effect without a recorded start (I2), no recorded end without its effect (I1), and keys that are
// stable for a node and shared by no two nodes (I7). An attempt may run again only after its runner was declared dead, or after
// its runner told the attempt to stop because the runner's own time to stop was over (I4, I23). A lost reply, a cut connection or
// a stop in good time is no reason.

import type { Effect } from './effect-action.ts';
import type { ExecutionRecord } from './evidence.ts';
import type { Violation } from './violation.ts';

const ACTIONS_OUTSIDE = new Set(['Succeeded', 'Failed', 'RetriableFailure']);

/** The reasons why an attempt may have begun twice. */
export interface Excuses {
  /** Names of runners that were declared dead at least once. */
  readonly deadRunners: ReadonlySet<string>;
  /** `runner execution:node:attempt` of the attempts that a stopping runner broke off. */
  readonly toldToStop: ReadonlySet<string>;
  /** Another engine handed out the attempts. It does so again whenever an answer or a heartbeat is lost. */
  readonly isForeign: boolean;
}

export function checkEffects(
  record: ExecutionRecord,
  nodeIds: readonly string[],
  effects: readonly Effect[],
  { deadRunners, toldToStop, isForeign }: Excuses,
): Violation[] {
  const violations: Violation[] = [];
  const { executionId, journal } = record;
  const report = (invariant: string, what: string, evidence: unknown) =>
    violations.push({ invariant, executionId, what, evidence });
  const mayRunAgain = ({ runner, nodeId, attempt }: Effect) =>
    isForeign ||
    runner === null ||
    deadRunners.has(runner) ||
    toldToStop.has(`${runner} ${executionId}:${nodeId}:${attempt}`);
  const generations = startsByAttempt(record, nodeIds);
  for (const effect of effects) {
    const { nodeId, attempt, key } = effect;
    const starts = generations.filter(
      (start) => start.nodeId === nodeId && (attempt ?? start.attempt) === start.attempt,
    );
    // The runner may have died before the start was written, and the execution may have been stopped before another runner began
    // it.
    const beganInVain = generations.length === 0 && mayRunAgain(effect);
    if (starts.length === 0 && !beganInVain)
      report('I2', `${nodeId}, attempt ${attempt ?? '?'}, ran and was never started`, { effect, journal });
    const keys = starts.map(({ generation }) => `${executionId}:${nodeId}${generation === 0 ? '' : `:${generation}`}`);
    if (starts.length > 0 && !keys.includes(key))
      report('I7', `${nodeId} ran under the key ${key}, not ${keys}`, effect);
  }
  for (const [what, repeats] of Map.groupBy(effects, ({ key, attempt }) => `${key}, attempt ${attempt}`)) {
    // In the order in which the attempts began: an effect sent by a paused process arrives after the effect of its successor.
    const begun = repeats.toSorted((a, b) => (a.begunAt ?? 0) - (b.begunAt ?? 0));
    const idle = begun.slice(0, -1).find((effect) => !mayRunAgain(effect));
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

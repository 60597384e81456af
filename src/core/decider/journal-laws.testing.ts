// Laws of every journal, whatever the plan and the order of events: checked on facts and commands alone, without the reference
// (I7, I8, I13, I14). Each law throws with the fact that broke it.

import type { Command } from './command.ts';
import type { Fact, Transition } from './fact.ts';
import type { Run, Step } from './scenario.testing.ts';
import { isFinal, isTerminal } from './state.ts';

export function checkJournal(run: Run): void {
  checkSequence(run.steps);
  checkEnds(run.steps);
  checkNoise(run.steps);
  checkStarts(run);
  checkPauses(run.steps);
  checkSkips(run);
  checkTimers(run);
  checkStartCommands(run);
  checkKeys(run);
}

type Placed = { readonly fact: Fact; readonly at: number; readonly step: Step };

function placed(steps: readonly Step[]): Placed[] {
  return steps.flatMap((step) =>
    step.decision.transition.facts.map((fact) => ({ fact, at: step.decision.transition.at, step })),
  );
}

function broken(law: string, { fact, step }: Placed): never {
  throw new Error(`${law}: ${JSON.stringify(fact)} after ${JSON.stringify(step.input)}`);
}

function checkSequence(steps: readonly Step[]): void {
  let last: Transition | null = null;
  for (const { decision } of steps) {
    const { transition } = decision;
    if (transition.facts.length === 0) continue;
    const expected: number = last === null ? 0 : last.seq + last.facts.length;
    if (transition.seq !== expected) throw new Error(`seq ${transition.seq} where ${expected} was next`);
    if (last !== null && transition.at < last.at) throw new Error('time ran backwards');
    last = transition;
  }
}

/** A person's decision: such an end follows no timer, and its attempt never ran. */
const isByHand = ({ input }: Step): boolean => input.type === 'signal' && input.signal === 'COMPLETE_STEP';

const STARTS = ['NodeStarted', 'NodeSleeping', 'NodeWaiting'];
const ENDS = ['ExecutionSucceeded', 'ExecutionFailed', 'ExecutionCancelled', 'ExecutionTimedOut'];

/** I13: one winner, and nothing after it but the record of a signal, until a person reopens the run. */
function checkEnds(steps: readonly Step[]): void {
  let ended = false;
  for (const place of placed(steps)) {
    const { type } = place.fact;
    if (type === 'ExecutionReopened') ended = false;
    else if (ended && type !== 'SignalApplied') broken('nothing happens after the end', place);
    if (ENDS.includes(type)) ended = true;
  }
  for (const { decision } of steps) {
    const ends = decision.transition.facts.filter((fact) => ENDS.includes(fact.type)).length;
    const completes = decision.commands.filter((command) => command.type === 'complete').length;
    if (ends !== completes) throw new Error(`${ends} ends, ${completes} complete commands`);
  }
}

/** Duplicates, late results, early calls and early bells change nothing (I3, I10). */
function checkNoise(steps: readonly Step[]): void {
  for (const { noise, decision, input } of steps) {
    const { facts } = decision.transition;
    const isQuiet = facts.every((fact) => fact.type === 'SignalApplied') && decision.commands.length === 0;
    if (noise && !isQuiet) throw new Error(`${JSON.stringify(input)} must change nothing: ${JSON.stringify(facts)}`);
  }
}

/** I14: attempts of a node start once each, in order. A sleep or a wait may be the first fact of one. */
function checkStarts(run: Run): void {
  const attempts = run.random.plan.nodes.map(() => 0);
  for (const place of placed(run.steps)) {
    if (!('attempt' in place.fact)) continue;
    const { node, attempt, type } = place.fact;
    const isNext = attempt === attempts[node]! + 1 && STARTS.includes(type);
    const isOfCurrent = attempt === attempts[node] && type !== 'NodeStarted';
    if (!isNext && !isOfCurrent) broken(`attempt ${attempts[node]} was the last`, place);
    attempts[node] = attempt;
  }
}

function checkPauses(steps: readonly Step[]): void {
  let paused = false;
  for (const place of placed(steps)) {
    const { type } = place.fact;
    if (type === 'ExecutionPaused') paused = true;
    else if (type === 'ExecutionResumed' || type === 'ExecutionReopened') paused = false;
    else if (paused && STARTS.includes(type) && !isByHand(place.step)) broken('nothing starts during a pause', place);
  }
}

function checkSkips(run: Run): void {
  for (const place of placed(run.steps)) {
    if (place.fact.type === 'NodeSkipped' && place.fact.reason.trim() === '') broken('a skip has its reason', place);
  }
  if (!isTerminal(run.state.status)) return;
  run.state.nodes.forEach((node, index) => {
    if (!isFinal(node.status)) throw new Error(`node ${index} is ${node.status} in a ${run.state.status} execution`);
    if (node.status === 'Skipped' && !node.reason) throw new Error(`node ${index} was skipped without a reason`);
  });
}

/** I8: retries, sleeps, webhook timeouts and deadlines come at their time or later. */
function checkTimers(run: Run): void {
  const until = new Map<number, number>();
  let deadline: number | null = null;
  let graceUntil = 0;
  for (const place of placed(run.steps)) {
    const { fact, at } = place;
    switch (fact.type) {
      case 'ExecutionStarted':
      case 'ExecutionReopened':
        deadline = fact.deadline;
        graceUntil = 0;
        break;
      case 'RetryScheduled':
      case 'NodeSleeping':
        until.set(fact.node, fact.until);
        break;
      case 'NodeWaiting':
        if (fact.until === null) until.delete(fact.node);
        else until.set(fact.node, fact.until);
        break;
      case 'NodesReset':
        for (const node of fact.nodes) until.delete(node);
        break;
      case 'NodeStarted':
      case 'NodeTimedOut':
        if (at < (until.get(fact.node) ?? 0) && !isByHand(place.step)) broken('too early', place);
        until.delete(fact.node);
        break;
      case 'NodeSucceeded':
        if (run.random.kinds[fact.node] === 'sleep' && at < until.get(fact.node)! && !isByHand(place.step)) {
          broken('woken too early', place);
        }
        until.delete(fact.node);
        break;
      case 'ExecutionStopping':
        graceUntil = fact.graceUntil;
        break;
      case 'NodeCancelled':
        // Told to stop, and still running at the end of the grace period.
        if (place.step.input.type === 'timerDue' && graceUntil > 0 && at < graceUntil) broken('grace cut short', place);
        break;
      case 'ExecutionTimedOut':
        if (deadline === null || at < deadline) broken('timed out before the deadline', place);
        break;
    }
  }
}

/** Every started attempt that did not fail by its own template goes to the driver exactly once. */
function checkStartCommands(run: Run): void {
  for (const step of run.steps) {
    const { decision } = step;
    const { facts } = decision.transition;
    const byHand = isByHand(step) ? (step.input as { payload: { stepId?: unknown } }).payload.stepId : null;
    // A node that a join gave up in the same transition need not run at all.
    const lost = new Set(facts.flatMap((fact) => ('lost' in fact ? [fact.node] : [])));
    const started = facts.flatMap((fact) => {
      if (fact.type !== 'NodeStarted' || run.random.kinds[fact.node] === 'badTemplate' || lost.has(fact.node))
        return [];
      if (run.random.plan.nodes[fact.node]!.id === byHand) return [];
      const { kind } = run.random.plan.nodes[fact.node]!.step;
      return kind === 'action' || kind === 'subworkflow' ? [`${fact.node}:${fact.attempt}`] : [];
    });
    const commanded = decision.commands.flatMap((command) =>
      command.type === 'runAction' || command.type === 'startChild' ? [`${command.node}:${command.attempt}`] : [],
    );
    // A node that a stop caught in the same transition need not run at all.
    if (facts.some((fact) => fact.type === 'ExecutionStopping' || ENDS.includes(fact.type))) continue;
    if (started.sort().join() !== commanded.sort().join()) {
      throw new Error(`started ${started.join()}, but commanded ${commanded.join()}: ${JSON.stringify(facts)}`);
    }
  }
}

/** I7: one key per node and generation, never shared; every child has its own id. */
function checkKeys(run: Run): void {
  const ownerOf = new Map<string, string>();
  const keyOf = new Map<string, string>();
  let generation = 0;
  for (const { decision } of run.steps) {
    for (const fact of decision.transition.facts) {
      if (fact.type === 'ExecutionReopened') generation = fact.generation;
    }
    for (const command of decision.commands) {
      const key = keyOfCommand(command);
      if (key === null) continue;
      const perAttempt = command.type === 'startChild' ? `/${command.attempt}` : '';
      const owner = `${key.node}/${generation}${perAttempt}`;
      if ((ownerOf.get(key.text) ?? owner) !== owner) throw new Error(`${key.text} is used by two: ${owner}`);
      if ((keyOf.get(owner) ?? key.text) !== key.text) throw new Error(`${owner} has two keys: ${key.text}`);
      ownerOf.set(key.text, owner);
      keyOf.set(owner, key.text);
    }
  }
}

function keyOfCommand(command: Command): { node: number; text: string } | null {
  if (command.type === 'runAction') return { node: command.node, text: command.idempotencyKey };
  return command.type === 'startChild' ? { node: command.node, text: command.childId } : null;
}

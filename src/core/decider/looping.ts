// Loops: which items of a forEach run, when the next round of a repeat follows, and their results. An item is over when all its
// nodes are, or when one has an unhandled failure. Then it folds into the loop's results and its nodes go. At most `parallel`
// items exist at a time.

import { isJsonObject, type Json } from '../json/json.ts';
import type { Body, Step } from '../plan/plan.ts';
import { bodyOf } from '../plan/virtual-node.ts';
import { retryDelayMs } from '../retry/retry.ts';
import { renderTemplate, TemplateError } from '../template/render.ts';
import type { Template } from '../template/template.ts';
import { whyAbsent } from './absence.ts';
import { type Deciding, emit, hasWorkedEnough, lookAtLoop } from './deciding.ts';
import type { FactOf, NodeError } from './fact.ts';
import { framesOf, idOf, isSingle, scopeOfFrame } from './frame.ts';
import { judge, type Scope } from './judging.ts';
import { loseFrame } from './losing.ts';
import { mergedOutputs } from './merged-outputs.ts';
import { failAttempt, succeedAttempt } from './outcome.ts';
import { tellAttempt } from './render.ts';
import { type Frame, hasOpenEdges, type LoopState, mayStart } from './state.ts';

type ForEach = Extract<Step, { kind: 'forEach' }>;
type Repeat = Extract<Step, { kind: 'repeat' }>;

/** Ends finished items, and goes on with their loops. false: nothing changed. */
export function settleLoops(deciding: Deciding): boolean {
  const { state, facts } = deciding;
  const before = facts.length;
  if (state.stopping !== null) return false;
  for (const base of deciding.frames ?? []) {
    deciding.frames!.delete(base);
    const frame = state.frames.get(base);
    if (frame !== undefined && isOver(frame)) finishItem(deciding, frame);
  }
  for (const owner of deciding.loops ?? []) {
    deciding.loops!.delete(owner);
    continueLoop(deciding, owner);
  }
  return facts.length > before;
}

function isOver(frame: Frame): boolean {
  if (frame.failed !== null) return true;
  return frame.unresolved === 0 && !frame.nodes.some((_, local) => hasOpenEdges(frame, local));
}

function finishItem(deciding: Deciding, frame: Frame): void {
  const { owner, item } = frame;
  const step = deciding.state.plan.nodes[owner]!.step as ForEach | Repeat;
  loseFrame(deciding, frame, `${idOf(deciding.state, owner)}[${item}] has failed`);
  const failure = failureOf(frame);
  const left = failure === null ? leftBy(deciding, frame, step) : { error: failure };
  emit(deciding, { type: 'ItemFinished', node: owner, item, bytes: 0, ...left });
  if (step.kind === 'repeat') return afterRound(deciding, owner, step, item, left.error);
  lookAtLoop(deciding, owner);
}

function failureOf(frame: Frame): NodeError | null {
  if (frame.failed !== null) return frame.nodes[frame.failed - frame.base]!.error!;
  const [only] = frame.nodes;
  return isSingle(frame) && only!.status !== 'Succeeded' ? only!.error : null;
}

type Left = Partial<Pick<FactOf<'ItemFinished'>, 'error' | 'result' | 'bytes' | 'collected'>>;

/** The outputs of an item. With a single node they are the recorded outputs of its attempt. */
function leftBy(deciding: Deciding, frame: Frame, step: ForEach | Repeat): Left {
  const { state } = deciding;
  const body = step.body;
  const [only] = body.nodes;
  const made = body.isSingle ? frame.data[only!.id]! : bodyOutputs(deciding, frame, body);
  if (made instanceof TemplateError) return { error: { code: 'TEMPLATE_ERROR', message: `outputs: ${made.message}` } };
  const told = body.isSingle ? {} : { result: made };
  if (step.kind === 'forEach') {
    // Outputs that were left out of the context take no room in it.
    const bytes = body.isSingle && made !== null ? frame.nodes[0]!.bytes : JSON.stringify(made).length;
    return body.isSingle ? { bytes } : roomFor(deciding, frame, bytes, { ...told, bytes });
  }
  if (step.collect === null) return told;
  const collected = renderIn(deciding, frame.owner, step.collect, { ...scopeOfFrame(state, frame), output: made });
  if (collected instanceof TemplateError) {
    return { error: { code: 'TEMPLATE_ERROR', message: `collect: ${collected.message}` } };
  }
  if (!Array.isArray(collected)) {
    return { error: { code: 'NOT_A_LIST', message: '`collect` must give a list after each round' } };
  }
  const bytes = JSON.stringify(collected).length;
  return roomFor(deciding, frame, bytes, { ...told, collected, bytes });
}

/** Results count against the context item by item: no loop gathers more than fits. */
function roomFor(deciding: Deciding, { owner, item }: Frame, bytes: number, left: Left): Left {
  const { state } = deciding;
  const { maxContextSizeBytes, overflowBehavior } = state.plan.snapshot;
  if (state.contextBytes + bytes <= maxContextSizeBytes) return left;
  if (overflowBehavior !== 'Fail') {
    const message = `${bytes} bytes of \`${idOf(state, owner)}[${item}]\` were left out of the context, which holds at most ${maxContextSizeBytes} (${overflowBehavior})`;
    emit(deciding, { type: 'Warning', code: OVERFLOW, message, node: owner });
    return { result: null, bytes: 4 };
  }
  const message = `${bytes} bytes more do not fit: the context holds ${state.contextBytes} of ${maxContextSizeBytes} bytes`;
  return { error: { code: OVERFLOW, message } };
}

const OVERFLOW = 'CONTEXT_OVERFLOW';

function bodyOutputs(deciding: Deciding, frame: Frame, body: Body): Json | TemplateError {
  if (body.outputs === null) {
    return mergedOutputs(deciding.state.plan.format, frame, (message) => {
      // Every item would give the same warning.
      const warning = { code: 'OUTPUTS_OVERLAP', message: `${message} (write \`outputs\`)`, node: frame.owner };
      if (frame.item === 0) emit(deciding, { type: 'Warning', ...warning });
    });
  }
  return renderIn(deciding, frame.owner, body.outputs, scopeOfFrame(deciding.state, frame));
}

function renderIn(deciding: Deciding, owner: number, template: Template, scope: Scope): Json | TemplateError {
  const { state, context, spend } = deciding;
  tellAttempt(deciding, owner);
  const options = { spend, style: context.templateStyle, why: whyAbsent(state) };
  try {
    return renderTemplate(template, scope, context.limits, options);
  } catch (error) {
    return error as TemplateError;
  }
}

function continueLoop(deciding: Deciding, owner: number): void {
  const { status, loop } = deciding.state.nodes[owner]!;
  if (status !== 'Waiting' || loop === null) return;
  const { step } = deciding.state.plan.nodes[owner]!;
  if (step.kind === 'repeat') {
    if (loop.active === 0) expand(deciding, owner, [loop.again[0] ?? loop.next]);
    return;
  }
  continueItems(deciding, owner, step as ForEach, loop);
}

function continueItems(deciding: Deciding, owner: number, step: ForEach, loop: LoopState): void {
  const overflow = loop.errors.find(({ code }) => code === OVERFLOW);
  if (overflow !== undefined) return failLoop(deciding, owner, { code: OVERFLOW, message: overflow.message });
  if (loop.failed > tolerated(step, loop.count)) {
    const { index, code, message } = loop.errors[0]!;
    const told = `${loop.failed} of ${loop.count} items failed; item ${index}: ${code}: ${message}`;
    return failLoop(deciding, owner, { code: 'ITEMS_FAILED', message: told });
  }
  const items = nextItems(loop, step.parallel - loop.active);
  if (items.length > 0) return expand(deciding, owner, items);
  if (loop.active > 0) return;
  const { count, succeeded, failed, errors } = loop;
  const results = [...loop.results];
  while (results.length < count) results.push(null);
  const outputs = { count, succeeded, failed, results, errors: errors.map((error) => ({ ...error })) };
  succeedAttempt(deciding, owner, { outputs });
}

function tolerated({ tolerate }: ForEach, count: number): number {
  return 'count' in tolerate ? tolerate.count : Math.floor((count * tolerate.percent) / 100);
}

function nextItems({ again, next, count }: LoopState, room: number): number[] {
  const items = again.slice(0, Math.max(0, room));
  for (let item = next; item < count && items.length < room; item++) items.push(item);
  return items;
}

function expand(deciding: Deciding, owner: number, items: number[]): void {
  const { state, admissible } = deciding;
  if (!mayStart(state)) return;
  if (hasWorkedEnough(deciding)) {
    deciding.isCutShort = true;
    return;
  }
  emit(deciding, { type: 'NodesExpanded', node: owner, items });
  const { base, nodes, start } = bodyOf(state.plan.nodes[owner]!)!;
  for (const item of items) for (const local of start) admissible.push(base + item * nodes.length + local);
}

/** After a succeeded round its condition is evaluated. A condition that throws would throw again after every round. */
function afterRound(deciding: Deciding, owner: number, step: Repeat, item: number, error: NodeError | undefined): void {
  const { state, now } = deciding;
  const { loop, attempts: attempt } = state.nodes[owner]!;
  const { last, succeeded, collected } = loop!;
  if (error !== undefined) {
    return failLoop(deciding, owner, { code: error.code, message: `round ${item}: ${error.message}` });
  }
  const { value, warning } = judge(deciding, step.until, { ...state.scope, output: last, round: item });
  if (warning !== undefined) {
    const message = `\`until\` (${step.until.source}) could not be judged: ${warning}`;
    return failLoop(deciding, owner, { code: 'CONDITION_ERROR', message });
  }
  if (value) {
    const own = isJsonObject(last) ? last : { output: last };
    const gathered = step.collect === null ? {} : { collected: [...collected] };
    return succeedAttempt(deciding, owner, { outputs: { ...own, rounds: item + 1, ...gathered } });
  }
  if (item + 1 >= step.body.limit) {
    const message = `\`until\` (${step.until.source}) did not hold after ${item + 1} rounds`;
    return failLoop(deciding, owner, { code: 'REPEAT_EXHAUSTED', message });
  }
  const delay = retryDelayMs({ ...step, baseDelayMs: step.delayMs, maxAttempts: 0, jitter: false }, succeeded, 0);
  if (delay > 0) emit(deciding, { type: 'NodeSleeping', node: owner, attempt, until: now + delay });
  else lookAtLoop(deciding, owner);
}

/** The time between two rounds is over. */
export function nextRound(deciding: Deciding, owner: number): void {
  const attempt = deciding.state.nodes[owner]!.attempts;
  emit(deciding, { type: 'NodeWaiting', node: owner, attempt, kind: 'rounds', until: null });
  lookAtLoop(deciding, owner);
}

/** No further items start, and running ones are told to stop. Finished results stay: a retry runs only the rest. */
function failLoop(deciding: Deciding, owner: number, error: NodeError): void {
  const { state } = deciding;
  for (const frame of framesOf(state, owner)) loseFrame(deciding, frame, `${idOf(state, owner)} has failed`);
  const { count, succeeded, failed, errors } = state.nodes[owner]!.loop!;
  const isItems = state.plan.nodes[owner]!.step.kind === 'forEach';
  const told = isItems
    ? { outputs: { count, succeeded, failed, errors: errors.slice(0, 100) as unknown as Json } }
    : {};
  failAttempt(deciding, owner, { error, retryable: false, ...told });
}

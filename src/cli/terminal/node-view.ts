// Shows the nodes of a running execution. In a terminal: one block, redrawn in place, with status, attempt, duration and error of
// every node. Elsewhere (a pipe, a log, a dumb terminal): one line whenever a node's status changes.

import type { ExecutionJson, GraphJson } from '../../protocol/execution.ts';
import { progressTexts, skipText, undoneText } from '../../protocol/step-text.ts';
import { printable } from '../file/line-map.ts';
import { canRedraw, type Paint, paintOn } from './terminal.ts';

type Colour = Parameters<Paint>[0];
type Node = GraphJson['nodes'][number];

/** The state of an execution. */
export interface Snapshot {
  readonly execution: ExecutionJson;
  readonly nodes: readonly Node[];
}

export interface NodeView {
  readonly intervalMs: number;
  show(nodes: Snapshot['nodes']): void;
  end(snapshot: Snapshot, durationMs: number): void;
}

const LOOKS: Readonly<Record<Node['status'], readonly [mark: string, colour: Colour]>> = {
  Pending: ['·', 'dim'],
  Running: ['▶', 'cyan'],
  Retrying: ['↻', 'yellow'],
  Sleeping: ['◷', 'cyan'],
  Waiting: ['◷', 'cyan'],
  Succeeded: ['✓', 'green'],
  Failed: ['✗', 'red'],
  TimedOut: ['✗', 'red'],
  Skipped: ['–', 'dim'],
  Cancelled: ['■', 'yellow'],
};

/** Lines are cut at the edge. A line of two rows would leave one behind at every redraw, eight times a second. */
const UNWRAPPED = { begin: '\u001b[?7l', end: '\u001b[?7h' };

/** Long graphs scroll; only the part that fits is redrawn in place. */
const SPARE_ROWS = 3;

/** `printsId`: prints the id at the end. */
export function createNodeView(stream: NodeJS.WriteStream, { printsId }: { printsId: boolean }): NodeView {
  const paint = paintOn(stream);
  const ending = (snapshot: Snapshot, durationMs: number) => summary(snapshot, durationMs, { paint, printsId });
  return canRedraw(stream) ? inPlace(stream, paint, ending) : asLines(stream, paint, ending);
}

type Ending = (snapshot: Snapshot, durationMs: number) => string;

function inPlace(stream: NodeJS.WriteStream, paint: Paint, ending: Ending): NodeView {
  let drawn = 0;
  const drawing = (lines: string[]): string => {
    const up = drawn > 0 ? `\u001b[${drawn}A` : '';
    drawn = lines.length;
    return `${up}${lines.map((line) => `\u001b[2K${line}\n`).join('')}\u001b[J`;
  };
  const fitting = (nodes: Snapshot['nodes']): string[] => {
    const lines = nodeLines(nodes, paint);
    // 0 means a terminal of unknown size. At least two lines: the sum, and the running node.
    const room = Math.max((stream.rows || 24) - SPARE_ROWS, 2);
    if (lines.length <= room) return lines;
    const begun = lines.filter((_, index) => nodes[index]!.status !== 'Pending');
    const open = nodes.filter(({ completedAt, status }) => completedAt === undefined && status !== 'Skipped').length;
    return [`… ${nodes.length} nodes, ${open} to go`, ...begun.slice(-room + 1)];
  };
  return {
    intervalMs: 120,
    show: (nodes) => void stream.write(`${UNWRAPPED.begin}${drawing(fitting(nodes))}${UNWRAPPED.end}`),
    end(snapshot, durationMs) {
      stream.write(`${drawing(nodeLines(snapshot.nodes, paint))}${ending(snapshot, durationMs)}`);
    },
  };
}

function asLines(stream: NodeJS.WriteStream, paint: Paint, ending: Ending): NodeView {
  const seen = new Map<number, string>();
  const show = (nodes: Snapshot['nodes']) => {
    for (const [index, line] of nodeLines(nodes, paint).entries()) {
      const { status, attempts, rounds, items } = nodes[index]!;
      // Ten lines are enough for a loop of a thousand items.
      const tenth = items === undefined ? 0 : Math.floor((10 * (items.succeeded + items.failed)) / (items.count || 1));
      const key = `${status}:${attempts}:${rounds ?? 0}:${tenth}`;
      if (status === 'Pending' || seen.get(index) === key) continue;
      seen.set(index, key);
      stream.write(`${line}\n`);
    }
  };
  return {
    intervalMs: 50,
    show,
    end(snapshot, durationMs) {
      show(snapshot.nodes);
      stream.write(ending(snapshot, durationMs));
    },
  };
}

function nodeLines(nodes: readonly Node[], paint: Paint): string[] {
  const width = Math.min(40, Math.max(...nodes.map(({ id }) => printable(id).length)));
  return nodes.map((node) => {
    const [mark, colour] = LOOKS[node.status];
    const name = printable(node.id).padEnd(width);
    return `${paint(colour, mark)} ${name}  ${paint(colour, node.status.padEnd(9))} ${details(node, paint)}`.trimEnd();
  });
}

function details(node: Node, paint: Paint): string {
  const { status, attempts, startedAt, completedAt, until, reason, error, childExecutionId } = node;
  const parts: string[] = [];
  if (attempts > 1) parts.push(`attempt ${attempts}`);
  if (startedAt !== undefined && completedAt !== undefined)
    parts.push(duration(Date.parse(completedAt) - Date.parse(startedAt)));
  if (until !== undefined) parts.push(paint('yellow', expectation(status, attempts, Date.parse(until) - Date.now())));
  if (status === 'Waiting' && childExecutionId !== undefined) parts.push(`for ${childExecutionId}`);
  parts.push(...standing(node));
  if (reason !== undefined) parts.push(paint('dim', printable(skipText(reason))));
  if (error !== undefined) parts.push(paint('red', printable(`${error.code}: ${error.message}`)));
  return parts.join('  ');
}

/** The progress of a loop, the reason of a wait, and the reason for a node without edges. */
export function standing(node: Node): string[] {
  const { waits, items, rounds, childExecutionId } = node;
  const isSaid = items !== undefined || rounds !== undefined || childExecutionId !== undefined;
  return [...progressTexts(node), ...(waits === undefined || isSaid ? [] : [printable(waits)])];
}

/** The reason and the remaining time of a wait. */
function expectation(status: Node['status'], attempts: number, inMs: number): string {
  const when = inMs <= 0 ? 'now' : `in ${duration(inMs)}`;
  if (status === 'Retrying') return `attempt ${attempts + 1} ${when}`;
  return status === 'Sleeping' ? `wakes ${when}` : `gives up ${when}`;
}

export function duration(milliseconds: number): string {
  // Rounds before choosing the unit; otherwise just under an hour would be 59 min 60 s.
  const tenths = Math.round(milliseconds / 100);
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return seconds < 172_800 ? `${(seconds / 3_600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(1)} days`;
}

export const failedOf = (nodes: readonly Pick<Node, 'status'>[]): number =>
  nodes.filter(({ status }) => status === 'Failed' || status === 'TimedOut').length;

function summary(
  { execution, nodes }: Snapshot,
  durationMs: number,
  { paint, printsId }: { paint: Paint; printsId: boolean },
): string {
  const { status } = execution;
  const failed = failedOf(nodes);
  // A pipeline goes on after a failed task, and a graph may have handled it. Neither must look plainly successful.
  const although = status === 'Succeeded' && failed > 0 ? paint('yellow', `, although ${count(failed)} failed`) : '';
  const error = execution.error === undefined ? '' : `: ${printable(execution.error.message)}`;
  const outputs = execution.outputs === undefined ? '{}' : JSON.stringify(execution.outputs);
  const result = outputs === '{}' || outputs === 'null' ? '' : `outputs ${excerpt(outputs)}\n`;
  const hint = lacksTrigger(execution, nodes)
    ? `help: the trigger did not have it; give it with --trigger '{…}'\n`
    : '';
  const id = printsId ? `${paint('dim', `execution ${execution.executionId}`)}\n` : '';
  const colour = status !== 'Succeeded' ? 'red' : failed > 0 ? 'yellow' : 'green';
  const undone = undoneText(execution.compensation);
  const cleaned = undone === null ? '' : `${paint(undone.tone === 'ok' ? 'green' : 'red', printable(undone.text))}\n`;
  return `\n${paint(colour, status)} in ${duration(durationMs)}${although}${error}\n${cleaned}${hint}${result}${id}`;
}

/** A template read a missing field of the trigger, as when no trigger was given. */
function lacksTrigger({ trigger, format }: ExecutionJson, nodes: readonly Node[]): boolean {
  const payload = format === 'pipeline' ? (trigger as { body?: unknown } | null)?.body : trigger;
  const isEmpty = JSON.stringify(payload ?? {}) === '{}';
  return isEmpty && nodes.some(({ error }) => error?.code === 'TEMPLATE_ERROR' && error.message.includes('trigger.'));
}

function count(nodes: number): string {
  return nodes === 1 ? '1 node' : `${nodes} nodes`;
}

const EXCERPT_LENGTH = 500;

function excerpt(text: string): string {
  const shown = printable(text);
  return shown.length <= EXCERPT_LENGTH ? shown : `${shown.slice(0, EXCERPT_LENGTH)}… (--json prints all of it)`;
}

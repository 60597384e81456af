// Shows the nodes of an execution as it runs. In a terminal: one block that is drawn again in place, with status, attempt,
// duration and error of every node. Elsewhere (a pipe, a log): one line whenever a node's status changes.

import { terminalPreferences } from '../config.ts';
import type { NodeState, NodeStatus } from '../core/decider/state.ts';
import type { Inspection } from '../engine/inspection.ts';
import { printable } from './line-map.ts';
import { coloured, type Paint, plain } from './problem-report.ts';

type Colour = Parameters<Paint>[0];

export interface NodeView {
  readonly intervalMs: number;
  show(inspection: Inspection): void;
  end(inspection: Inspection, durationMs: number): void;
}

const LOOKS: Readonly<Record<NodeStatus, readonly [mark: string, colour: Colour]>> = {
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

/** Long graphs scroll past; in place only what fits is drawn. */
const SPARE_ROWS = 3;

export function createNodeView(stream: NodeJS.WriteStream): NodeView {
  const paint: Paint = terminalPreferences(stream).colour ? coloured : plain;
  return stream.isTTY ? inPlace(stream, paint) : asLines(stream, paint);
}

function inPlace(stream: NodeJS.WriteStream, paint: Paint): NodeView {
  let drawn = 0;
  const draw = (lines: string[]) => {
    const up = drawn > 0 ? `\u001b[${drawn}A` : '';
    stream.write(`${up}${lines.map((line) => `\u001b[2K${line}\n`).join('')}\u001b[J`);
    drawn = lines.length;
  };
  const fitting = (inspection: Inspection): string[] => {
    const lines = nodeLines(inspection, paint);
    const room = (stream.rows ?? 24) - SPARE_ROWS;
    if (lines.length <= room) return lines;
    const unfinished = lines.filter((_, index) => inspection.state.nodes[index]!.status !== 'Pending').slice(-room + 1);
    return [`… ${lines.length} nodes, ${inspection.state.unresolved} to go`, ...unfinished];
  };
  return {
    intervalMs: 120,
    show: (inspection) => draw(fitting(inspection)),
    end(inspection, durationMs) {
      draw(nodeLines(inspection, paint));
      stream.write(summary(inspection, durationMs, paint));
    },
  };
}

function asLines(stream: NodeJS.WriteStream, paint: Paint): NodeView {
  const seen = new Map<number, string>();
  const show = (inspection: Inspection) => {
    for (const [index, line] of nodeLines(inspection, paint).entries()) {
      const { status, attempts } = inspection.state.nodes[index]!;
      const key = `${status}:${attempts}`;
      if (status === 'Pending' || seen.get(index) === key) continue;
      seen.set(index, key);
      stream.write(`${line}\n`);
    }
  };
  return {
    intervalMs: 50,
    show,
    end(inspection, durationMs) {
      show(inspection);
      stream.write(summary(inspection, durationMs, paint));
    },
  };
}

function nodeLines({ state }: Inspection, paint: Paint): string[] {
  const width = Math.min(40, Math.max(...state.plan.nodes.map(({ id }) => printable(id).length)));
  return state.plan.nodes.map(({ id }, index) => {
    const node = state.nodes[index]!;
    const [mark, colour] = LOOKS[node.status];
    const name = printable(id).padEnd(width);
    return `${paint(colour, mark)} ${name}  ${paint(colour, node.status.padEnd(9))} ${details(node, paint)}`.trimEnd();
  });
}

function details(node: NodeState, paint: Paint): string {
  const parts: string[] = [];
  if (node.attempts > 1) parts.push(`attempt ${node.attempts}`);
  if (node.startedAt !== null && node.endedAt !== null) parts.push(duration(node.endedAt - node.startedAt));
  if (node.reason !== null) parts.push(paint('dim', printable(node.reason)));
  if (node.error !== null && node.status !== 'Succeeded') {
    parts.push(paint('red', printable(`${node.error.code}: ${node.error.message}`)));
  }
  return parts.join('  ');
}

function duration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

function summary({ view, state }: Inspection, durationMs: number, paint: Paint): string {
  const colour = view.status === 'Succeeded' ? 'green' : 'red';
  const failed = state.nodes.filter(({ status }) => status === 'Failed' || status === 'TimedOut').length;
  // A pipeline goes on after a failed task, and a graph may have handled it: that must not look like nothing happened.
  const although =
    view.status === 'Succeeded' && failed > 0 ? paint('yellow', `, although ${count(failed)} failed`) : '';
  const error = view.error === null ? '' : `: ${printable((JSON.parse(view.error) as { message: string }).message)}`;
  const outputs = view.outputs === null || view.outputs === '{}' ? '' : `outputs ${excerpt(view.outputs)}\n`;
  const id = paint('dim', `execution ${view.executionId}`);
  return `\n${paint(colour, view.status)} in ${duration(durationMs)}${although}${error}\n${outputs}${id}\n`;
}

function count(nodes: number): string {
  return nodes === 1 ? '1 node' : `${nodes} nodes`;
}

const EXCERPT_LENGTH = 500;

function excerpt(text: string): string {
  const shown = printable(text);
  return shown.length <= EXCERPT_LENGTH ? shown : `${shown.slice(0, EXCERPT_LENGTH)}… (--json prints all of it)`;
}

// A machine as one self-contained SVG: no script, font or external reference; light and dark follow the reader's setting. Names
// come from users, so every name is escaped.

import type { Machine } from '../machine.ts';
import { type Arrow, type Box, layOut, type Point } from './layout.ts';
import { escapeXml, LINE_HEIGHT, shown } from './text.ts';

export interface DiagramOptions {
  /** The state to highlight: where an instance is. */
  readonly current?: string | undefined;
}

const STYLE = `
  svg { --ink: #1f2933; --line: #7b8794; --paper: #ffffff; --box: #f5f7fa; --mark: #0b69a3; --mark-ink: #ffffff; }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #e4e7eb; --line: #9aa5b1; --paper: #1b222b; --box: #28313c; --mark: #40a9f0; --mark-ink: #10161d; }
  }
  text { font: 13px ui-sans-serif, system-ui, sans-serif; fill: var(--ink); text-anchor: middle; dominant-baseline: central; }
  .paper { fill: var(--paper); }
  .state rect { fill: var(--box); stroke: var(--line); stroke-width: 1.5; }
  .state text { font-weight: 600; }
  .state .inner { fill: none; stroke-width: 1; }
  .current rect { fill: var(--mark); stroke: var(--mark); }
  .current .inner { fill: none; stroke: var(--mark-ink); }
  .current text { fill: var(--mark-ink); }
  .arrow { fill: none; stroke: var(--line); stroke-width: 1.5; marker-end: url(#head); }
  .label { paint-order: stroke; stroke: var(--paper); stroke-width: 6px; stroke-linejoin: round; }
  .head, .start { fill: var(--line); }
`;

const HEAD =
  '<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">' +
  '<path class="head" d="M0 0L10 5L0 10z"/></marker>';

const START_RADIUS = 6;

export function lifecycleSvg(machine: Machine, { current }: DiagramOptions = {}): string {
  const { width, height, start, boxes, arrows } = layOut(machine);
  const title = escapeXml(`${machine.name} (${machine.env})`);
  const first = [
    { x: start.x + START_RADIUS, y: start.y },
    { x: boxes.get(machine.initial)!.x, y: start.y },
  ];
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}</style>`,
    `<defs>${HEAD}</defs>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    `<circle class="start" cx="${at(start.x)}" cy="${at(start.y)}" r="${START_RADIUS}"/>`,
    `<path class="arrow" d="${curve(first)}"/>`,
    ...arrows.map(({ edge, points }) => {
      return `<path class="arrow" d="${points.length === 0 ? loopAbove(boxes.get(edge.from)!) : curve(points)}"/>`;
    }),
    ...arrows.flatMap(labelsOf),
    ...[...boxes.values()].map((box) => stateOf(box, machine.states.get(box.name)!.isFinal, box.name === current)),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

function stateOf({ name, x, y, width, height }: Box, isFinal: boolean, isCurrent: boolean): string {
  const frame = (marks: string, inset: number): string => {
    const size = `width="${at(width - 2 * inset)}" height="${at(height - 2 * inset)}" rx="${8 - inset}"`;
    return `<rect${marks} x="${at(x + inset)}" y="${at(y + inset)}" ${size}/>`;
  };
  const inner = isFinal ? frame(' class="inner"', 4) : '';
  const text = textAt({ x: x + width / 2, y: y + height / 2 }, name, '');
  return `<g class="${isCurrent ? 'state current' : 'state'}">${frame('', 0)}${inner}${text}</g>`;
}

function labelsOf({ edge: { labels }, label: { x, y } }: Arrow): string[] {
  const top = y - ((labels.length - 1) * LINE_HEIGHT) / 2;
  return labels.map((text, index) => textAt({ x, y: top + index * LINE_HEIGHT }, text, ' class="label"'));
}

function textAt({ x, y }: Point, text: string, marks: string): string {
  const whole = shown(text) === text ? '' : `<title>${escapeXml(text)}</title>`;
  return `<text${marks} x="${at(x)}" y="${at(y)}">${escapeXml(shown(text))}${whole}</text>`;
}

/** Level at every point, so that the pieces meet smoothly. */
function curve(points: readonly Point[]): string {
  const pieces = points.slice(1).map((to, index) => {
    const from = points[index]!;
    if (from.y === to.y) return `L${pair(to)}`;
    const middle = (from.x + to.x) / 2;
    return `C${pair({ x: middle, y: from.y })} ${pair({ x: middle, y: to.y })} ${pair(to)}`;
  });
  return `M${pair(points[0]!)}${pieces.join('')}`;
}

function loopAbove({ x, y, width }: Box): string {
  const middle = x + width / 2;
  const [leaves, above, below] = [middle - 14, y - 30, middle + 14];
  return `M${pair({ x: leaves, y })}C${pair({ x: leaves - 10, y: above })} ${pair({ x: below + 10, y: above })} ${pair({ x: below, y })}`;
}

/** A tenth of a pixel is precise enough, and the same everywhere. */
const at = (value: number): string => String(Math.round(value * 10) / 10);
const pair = ({ x, y }: Point): string => `${at(x)} ${at(y)}`;

// Resolves names: which node each edge leads to. Reports unknown names, duplicate names and edges from a node to itself. A near
// miss counts as the name it resembles, in `guesses` only, so that one slip does not produce a page of "unreachable" and "not
// upstream".

import { didYouMean } from '../expression/problem.ts';
import type { Format } from '../plan/plan.ts';
import type { Findings } from '../problem/problem.ts';
import type { Draft, DraftEdge, Located } from './draft.ts';
import { MAX_ID_LENGTH } from './limits.ts';
import type { Arc } from './topology.ts';
import { WORDING } from './wording.ts';

interface Link extends Arc {
  readonly draft: DraftEdge;
}

export interface Links {
  /** The first node of each name. */
  readonly byName: ReadonlyMap<string, number>;
  readonly edges: readonly Link[];
  readonly guesses: readonly Arc[];
  /** From a node to the one that undoes it. */
  readonly undo: readonly Arc[];
  readonly finally: readonly number[];
  /** Nodes that run at the end only. */
  readonly asides: ReadonlySet<number>;
  /** Graphs: the start node; null when it is unknown. Other formats have none. */
  readonly start: number | null;
}

export function link(draft: Draft, findings: Findings): Links {
  const byName = indexNames(draft, findings);
  const edges: Link[] = [];
  const guesses: Arc[] = [];
  for (const edge of draft.edges) {
    const { index, guessed } = findNode(edge.other, byName, findings, draft.format);
    if (index === null) continue;
    const [from, to] = edge.direction === 'fromOwner' ? [edge.owner, index] : [index, edge.owner];
    if (guessed) guesses.push({ from, to });
    else if (from === to) reportSelfEdge(edge, draft.format, findings);
    else edges.push({ from, to, draft: edge });
  }
  const start = draft.startNode === null ? null : findNode(draft.startNode, byName, findings, draft.format).index;
  const aside = linkAsides(draft, byName, edges, start, findings);
  return { byName, edges, guesses, start, ...aside };
}

/** Compensations and `finally`: each is named once, and has no edges. */
function linkAsides(
  draft: Draft,
  byName: ReadonlyMap<string, number>,
  edges: readonly Link[],
  start: number | null,
  findings: Findings,
): Pick<Links, 'undo' | 'finally' | 'asides'> {
  const undo: Arc[] = [];
  const last: number[] = [];
  const named = new Map<number, string>();
  const take = (name: Located<string>): number | null => {
    const { index, guessed } = findNode(name, byName, findings, draft.format);
    if (index === null || guessed) return null;
    const problem = asideProblem(draft, index, edges, start, named.get(index));
    if (problem !== null) findings.error('BAD_COMPENSATION', name.at, `\`${name.value}\` ${problem}`);
    named.set(index, name.at);
    return index;
  };
  draft.nodes.forEach(({ compensate }, from) => {
    const to = compensate === undefined ? null : take(compensate);
    if (to !== null) undo.push({ from, to });
  });
  for (const name of draft.finally ?? []) {
    const index = take(name);
    if (index !== null) last.push(index);
  }
  return { undo, finally: last, asides: new Set(named.keys()) };
}

function asideProblem(
  draft: Draft,
  index: number,
  edges: readonly Link[],
  start: number | null,
  before: string | undefined,
): string | null {
  const { step, compensate } = draft.nodes[index]!;
  if (before !== undefined) return `runs at the end already, by ${before}: give each its own`;
  if (index === start) return 'is where the workflow starts: it cannot run at the end only';
  if (edges.some(({ from, to }) => from === index || to === index))
    return 'runs at the end only: no edge may lead to it or from it';
  if (compensate !== undefined) return 'runs at the end, and cannot be undone itself';
  return step?.kind === 'end' ? 'ends the execution, which is ending already' : null;
}

export function findNode(
  name: Located<string>,
  byName: ReadonlyMap<string, number>,
  findings: Findings,
  format: Format,
): { index: number | null; guessed: boolean } {
  const index = byName.get(name.value);
  if (index !== undefined) return { index, guessed: false };
  const near = findings.nearMiss(name.value, byName.keys());
  const message = `unknown ${WORDING[format].node} \`${shorten(name.value)}\``;
  findings.error('UNKNOWN_NODE', name.at, message, didYouMean(near));
  return { index: near === undefined ? null : byName.get(near)!, guessed: true };
}

function indexNames(draft: Draft, findings: Findings): Map<string, number> {
  const byName = new Map<string, number>();
  draft.nodes.forEach(({ id, idAt }, index) => {
    if (id === '__proto__' || (draft.format === 'pipeline' && !hasFittingLength(id))) {
      const message = `\`${shorten(id)}\` cannot be a name: 1 to ${MAX_ID_LENGTH} characters, and not __proto__`;
      findings.error('BAD_ID', idAt, message);
    } else if (id !== '' && byName.has(id)) {
      const first = draft.nodes[byName.get(id)!]!.at;
      findings.error(
        'DUPLICATE_ID',
        idAt,
        `the name \`${id}\` is taken by ${first}`,
        `give each ${WORDING[draft.format].node} a name of its own`,
      );
    } else if (id !== '') byName.set(id, index);
  });
  return byName;
}

/** The schema checks ids; a pipeline's names are keys, which it does not check. */
function hasFittingLength(id: string): boolean {
  return id.length >= 1 && id.length <= MAX_ID_LENGTH;
}

function reportSelfEdge({ other }: DraftEdge, format: Format, findings: Findings): void {
  const { leadsToItself, runOnce } = WORDING[format];
  findings.error('SELF_EDGE', other.at, `\`${other.value}\` ${leadsToItself}`, runOnce);
}

function shorten(name: string): string {
  return name.length > MAX_ID_LENGTH ? `${name.slice(0, 40)}…` : name;
}

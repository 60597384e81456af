// From names to numbers: which node each edge leads to. Unknown names, names used twice and edges from a node to itself
// are reported. An unknown name that is a near miss is taken for what it was probably meant to be, in `guesses` alone, so
// that one slip of the keyboard is not followed by a page of "unreachable" and "not upstream".

import { didYouMean } from '../expression/problem.ts';
import type { Format } from '../plan/plan.ts';
import type { Draft, DraftEdge, Located } from './draft.ts';
import { MAX_ID_LENGTH } from './limits.ts';
import type { Findings } from './problem.ts';
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
  /** Graphs: where the execution starts; null when that is unknown, or everywhere nothing is awaited. */
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
  return { byName, edges, guesses, start };
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

/** The schema says so of ids; a pipeline's names are keys, which it does not judge. */
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

// Checks joins and edges by code: more edges than exist, codes on an edge that is not for failures, and codes that the action
// behind the edge never raises.

import { ERROR_CODES } from '../error/codes.ts';
import { didYouMean } from '../expression/problem.ts';
import type { Findings } from '../problem/problem.ts';
import { ANY_CODE, CODE_GROUPS, HTTP_CODE } from '../retry/error-match.ts';
import type { Draft, DraftNode, Located } from './draft.ts';
import type { Links } from './link.ts';

/** By action type: the codes that an action declares. An action that is not listed may raise any. */
export type RaisedCodes = ReadonlyMap<string, readonly string[]>;

export function checkJoins(draft: Draft, links: Links, findings: Findings): void {
  draft.nodes.forEach(({ join }, index) => {
    if (typeof join === 'string') return;
    const edges = links.edges.filter(({ to }) => to === index).length;
    const { value, at } = join.first;
    if (value <= edges) return;
    const [one, several] =
      draft.format === 'graph' ? ['edge leads here', 'edges lead here'] : ['task is named', 'tasks are named'];
    const message = `the first ${value} are waited for, but only ${edges} ${edges === 1 ? one : several}`;
    const more = draft.format === 'graph' ? 'add edges' : 'name more tasks in `of`';
    findings.error('JOIN_IMPOSSIBLE', at, message, `write at most ${edges}, or ${more}`);
  });
}

export function checkCodes(draft: Draft, raised: RaisedCodes | undefined, findings: Findings): void {
  const bodies = draft.nodes.flatMap(({ loop }) => loop?.body ?? []);
  for (const body of bodies) checkCodes({ ...draft, ...body }, raised, findings);
  for (const { codes = [], when, owner } of draft.edges) {
    if (codes.length > 0 && when !== 'failure') {
      const message = `codes are those of errors, and this edge is for \`${when}\``;
      findings.error('CODES_UNUSED', codes[0]!.at, message, 'write "when": "failure", or remove them');
    }
    for (const code of codes) checkCode(code, draft.nodes[owner]!, raised, findings);
  }
  for (const node of draft.nodes) {
    for (const code of node.retryCodes ?? []) checkCode(code, node, raised, findings);
  }
}

/** A warning, because a user's action may raise codes that it does not declare. */
function checkCode(code: Located<string>, node: DraftNode, raised: RaisedCodes | undefined, findings: Findings): void {
  const own = node.step?.kind === 'action' ? raised?.get(node.step.actionType) : undefined;
  if (own === undefined || isGeneral(code.value) || own.includes(code.value)) return;
  const near = findings.nearMiss(code.value, [...own, ...CODE_GROUPS, ...Object.keys(ERROR_CODES)]);
  const raises = own.length === 0 ? 'it has no codes of its own' : `it fails with ${own.join(', ')}`;
  const suggestion = didYouMean(near) ?? raises;
  const message = `\`${node.id}\` never fails with \`${code.value}\``;
  findings.warning('UNKNOWN_CODE', code.at, message, suggestion);
}

function isGeneral(code: string): boolean {
  return code === ANY_CODE || CODE_GROUPS.includes(code) || HTTP_CODE.test(code) || Object.hasOwn(ERROR_CODES, code);
}

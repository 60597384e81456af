// What a rule is: a name, what to do about a finding, and a check over the whole tree. A rule holds no list of files it
// forgives; forgiveness is data, with a reason, in exceptions.ts.

import type { AnyNode } from 'acorn';
import { lineOfNode, type Module } from './module.ts';
import type { Tree } from './tree.ts';
import { walk } from './walk.ts';

export interface Rule {
  readonly name: string;
  readonly fix: string;
  readonly check: (tree: Tree) => Finding[];
}

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

export function describeFinding(rule: Rule, finding: Finding): string {
  return `${finding.file}:${finding.line}  ${rule.name}: ${finding.what}\n    how to fix: ${rule.fix}`;
}

/** Findings in each module whose path is in scope, one file at a time. */
export function inModules(inScope: (path: string) => boolean, check: (module: Module) => Finding[]): Rule['check'] {
  return (tree) => [...tree.modules.values()].filter(({ path }) => inScope(path)).flatMap(check);
}

/** Findings by looking at each node of the syntax tree: `what` says what is wrong with it, or nothing. */
export function inSyntax(
  inScope: (path: string) => boolean,
  what: (node: AnyNode, parent: AnyNode | undefined, module: Module) => string | undefined,
): Rule['check'] {
  return inModules(inScope, (module) => {
    const findings: Finding[] = [];
    walk(module.program, (node, parent) => {
      const problem = what(node, parent, module);
      if (problem !== undefined) findings.push({ file: module.path, line: lineOfNode(node), what: problem });
    });
    return findings;
  });
}

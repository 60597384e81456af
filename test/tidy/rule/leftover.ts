// Rules against what is left behind: tests switched off, checks silenced, and paths of somebody's machine.

import type { AnyNode } from 'acorn';
import { type Finding, inModules, inSyntax, type Rule } from '../rule.ts';

const everywhere = (): boolean => true;

const testFunctions = new Set(['bench', 'describe', 'it', 'suite', 'test']);
const switches = new Set(['only', 'skip', 'todo']);
const silencers = /(@ts-ignore|@ts-nocheck|@ts-expect-error|biome-ignore)/;

// In pieces, so that this file does not name what it forbids.
const machineFolders = ['work/', 'root/', 'tmp/node-pkg'];
const machinePath = new RegExp(`(?<![\\w.-])/(${machineFolders.join('|')})`);

export const leftoverRules: readonly Rule[] = [
  {
    name: 'no test switched off',
    fix: 'make the test pass, or delete it; what a machine lacks is skipped with skipIf and one line that says why',
    check: inSyntax(everywhere, (node) => (node.type === 'CallExpression' ? switchedOff(node) : undefined)),
  },
  {
    name: 'no silenced checks',
    fix: 'say it in types that hold: narrow the value, or validate it where it enters',
    check: inModules(everywhere, ({ path, comments, erased }) => {
      const silenced = comments.filter(({ text }) => silencers.test(text));
      const casts = erased.flatMap((span) =>
        span.filter(({ text }, index) => text === 'as' && span[index + 1]?.text === 'any'),
      );
      return [
        ...silenced.map(({ text, line }): Finding => ({ file: path, line, what: silencers.exec(text)![0] })),
        ...casts.map(({ line }): Finding => ({ file: path, line, what: 'as any' })),
      ];
    }),
  },
  {
    name: 'no machine paths',
    fix: 'write the path relative to the project, or take it as an option',
    check: (tree) =>
      [...tree.files].flatMap(([file, text]) =>
        text.split('\n').flatMap((line, index): Finding[] => {
          const found = machinePath.exec(line);
          return found === null ? [] : [{ file, line: index + 1, what: `names ${found[0]}` }];
        }),
      ),
  },
];

/** `it.only(…)`, `describe.skip.each(…)(…)`, and the same as an option: `it('…', { only: true }, …)`. */
function switchedOff(call: AnyNode & { type: 'CallExpression' }): string | undefined {
  const names = calleeNames(call.callee);
  if (!testFunctions.has(names[0] ?? '')) return undefined;
  const modifier = names.find((name) => switches.has(name));
  if (modifier !== undefined) return `.${modifier}`;
  const option = call.arguments
    .flatMap((argument) => (argument.type === 'ObjectExpression' ? argument.properties : []))
    .find((entry) => entry.type === 'Property' && entry.key.type === 'Identifier' && switches.has(entry.key.name));
  return option === undefined ? undefined : 'switched off by an option';
}

function calleeNames(callee: AnyNode): string[] {
  if (callee.type === 'Identifier') return [callee.name];
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return [];
  return [...calleeNames(callee.object), callee.property.name];
}

// Rules against leftovers: silenced checks, and paths of somebody's machine.

import { type Finding, inModules, type Rule } from '../rule.ts';

const everywhere = (): boolean => true;

const silencers = /(@ts-ignore|@ts-nocheck|@ts-expect-error|biome-ignore)/;

// In pieces, so that this file does not name what it forbids.
const machineFolders = ['work/', 'root/', 'tmp/node-pkg'];
const machinePath = new RegExp(`(?<![\\w.-])/(${machineFolders.join('|')})`);

export const leftoverRules: readonly Rule[] = [
  {
    name: 'no silenced checks',
    fix: 'say it in types that hold: narrow the value, or validate it where it enters',
    check: inModules(everywhere, ({ path, comments }) =>
      comments
        .filter(({ text }) => silencers.test(text))
        .map(({ text, line }): Finding => ({ file: path, line, what: silencers.exec(text)![0] })),
    ),
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

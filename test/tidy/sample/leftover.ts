// Samples for rule/leftover.ts. What the rule on machine paths forbids is written in pieces: it also reads this file.

import { broken, type Sample } from '../sample.ts';

const folder = (name: string): string => `/${name}/`;

export const leftoverSamples: readonly Sample[] = [
  {
    rule: 'no silenced checks',
    breaks: [
      broken('src/core/a.ts', `// head\n// @ts-ignore\nexport const a = 1;`, 2),
      broken('src/core/a.ts', `// @ts-nocheck`, 1),
      broken('test/a.test.ts', `/* biome-ignore lint: no */`, 1),
      broken('test/a.test.ts', `interface A {\n  // @ts-ignore\n  b: string;\n}`, 2),
    ],
    keeps: [{ 'src/core/a.ts': `export const text = 'as any // @ts-ignore';\nexport const b = c as unknown;` }],
  },
  {
    rule: 'no machine paths',
    breaks: [
      broken('README.md', `see\n\`${folder('work')}main\``, 2),
      broken('package.json', `{ "a": "file://${folder('root')}a" }`, 1),
      broken('.ci/run', `export PATH=${folder('tmp')}node-pkg/bin`, 1),
    ],
    keeps: [{ 'README.md': `src${folder('work')}a.ts, https://example.com${folder('root')}, ${folder('tmp')}other` }],
  },
];

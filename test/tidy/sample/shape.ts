// Samples for rule/shape.ts.

import { broken, type Sample } from '../sample.ts';

const lines = (count: number): string => '// line\n'.repeat(count);
const functionOf = (count: number): string => `// head\nexport const a = () => {\n${lines(count - 2)}};`;

export const shapeSamples: readonly Sample[] = [
  {
    rule: 'erasable TypeScript',
    breaks: [
      broken('src/core/a.ts', `enum Colour { Red }`, 1),
      broken('src/core/a.ts', `class A { constructor(private b: number) {} }`, 1),
      broken('src/core/a.ts', `const = 1;`, 1),
    ],
    keeps: [{ 'src/core/a.ts': `interface A {\n  // é 😀\n  b: string;\n}\nexport const c = (d as A)! satisfies A;` }],
  },
  {
    rule: 'file length',
    breaks: [broken('src/core/a.ts', lines(401), 401), broken('scripts/a.ts', lines(401), 401)],
    keeps: [{ 'src/core/a.ts': lines(400) }, { 'docs/long.md': lines(500) }],
  },
  {
    rule: 'function length',
    breaks: [broken('src/core/a.ts', functionOf(71), 2)],
    keeps: [{ 'src/core/a.ts': functionOf(70) }, { 'src/core/a.test.ts': functionOf(200) }],
  },
  {
    rule: 'header',
    breaks: [
      broken('src/core/a.ts', `import { b } from './b.ts';\n// late`, 1),
      broken('src/core/b.ts', `\n// late`, 1),
    ],
    keeps: [{ 'src/core/a.ts': `// The job.\n` }, { 'src/core/b.ts': `/* The job. */\n` }],
  },
  {
    rule: 'no default exports',
    breaks: [broken('src/core/a.ts', `// head\nexport default function a() {}`, 2)],
    keeps: [{ 'vitest.config.ts': `export default {};` }, { 'src/core/a.ts': `export const fallback = 'default';` }],
  },
  {
    rule: 'no barrels',
    breaks: [
      broken('src/core/index.ts', `export const a = 1;`, 1),
      broken('src/core/plan.ts', `// all\nexport * from './a.ts';\nexport { b } from './b.ts';`, 2),
    ],
    keeps: [
      { 'src/main.ts': `export { a } from './store/a.ts';` },
      { 'src/core/a.ts': `export interface A {}` },
      { 'src/core/a.ts': `export { b } from './b.ts';\nexport const a = 1;` },
    ],
  },
  {
    rule: 'names say what is inside',
    breaks: [
      broken('src/core/utils/a.ts', '', 1),
      broken('src/core/types.ts', '', 1),
      broken('test/helpers.ts', '', 1),
      broken('docs/common/a.md', '', 1),
      broken('src/engine/helpers.test.ts', '', 1),
    ],
    keeps: [{ 'src/core/content-types.ts': '', 'src/core/json.ts': '' }],
  },
  {
    rule: 'kebab-case',
    breaks: [
      broken('src/core/timerHeap.ts', '', 1),
      broken('src/Core/timer.ts', '', 1),
      broken('test/timer_heap.test.ts', '', 1),
    ],
    keeps: [
      { 'src/core/timer-heap.test.ts': '', 'src/core/a.testing.ts': '', 'src/store/postgres/sql/dead_letter.sql': '' },
    ],
  },
];

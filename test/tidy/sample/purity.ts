// Samples for rule/purity.ts.

import { broken, type Sample } from '../sample.ts';

export const puritySamples: readonly Sample[] = [
  {
    rule: 'pure',
    breaks: [
      broken('src/core/a.ts', `export const a = 1;\nexport const b = () => Date.now();`, 2),
      broken('src/core/a.ts', `export const b = () => Date['now']();`, 1),
      broken('src/lifecycle/machine/a.ts', `export const b = () => new Date();`, 1),
      broken('src/core/a.ts', `export const b = () => Math.random();`, 1),
      broken('src/protocol/a.ts', `export const b = async () => 1;`, 1),
      broken('src/core/a.ts', `export async function b() {\n  await 1;\n}`, 1, 2),
      broken('src/core/a.ts', `export const b = () => process.pid;`, 1),
      broken('src/core/a.ts', `setTimeout(() => {}, 1);`, 1),
      broken('src/core/a.ts', `setInterval(() => {}, 1);`, 1),
      broken('src/core/a.ts', `queueMicrotask(() => {});`, 1),
      broken('src/core/a.ts', `export const b = globalThis;`, 1),
      broken('src/core/a.ts', `export const b = { process };`, 1),
    ],
    keeps: [
      { 'src/core/a.test.ts': `export const b = async () => Date.now();` },
      { 'src/engine/a.ts': `export const b = () => setTimeout(() => {}, 1);` },
      { 'src/core/a.ts': `export const b = (c: { process: number }) => ({ process: c.process, text: 'Date.now()' });` },
      { 'src/core/a.ts': `// await Date.now()\nexport const b = (date: Date) => Math.max(1, date.getTime());` },
    ],
  },
  {
    rule: 'no node: modules in pure folders',
    breaks: [
      broken('src/core/a.ts', `import { join } from 'node:path';`, 1),
      broken('src/protocol/a.ts', `import type { Buffer } from 'node:buffer';`, 1),
    ],
    keeps: [{ 'src/core/a.test.ts': `import { join } from 'node:path';` }],
  },
  {
    rule: 'no module state',
    breaks: [
      broken('src/core/a.ts', `let count = 0;`, 1),
      broken('src/core/a.ts', `export let count = 0;`, 1),
      broken('src/core/a.ts', `const cache = new Map<string, number>();`, 1),
    ],
    keeps: [
      { 'src/core/a.ts': `const names = new Set(['a']);\nexport function b() {\n  let c = 0;\n  return c;\n}` },
      { 'src/core/a.ts': `const memo = new WeakMap<object, number>();` },
      { 'src/engine/a.ts': `let count = 0;` },
    ],
  },
];

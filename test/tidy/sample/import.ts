// Samples for rule/import.ts.

import { broken, type Sample } from '../sample.ts';

export const importSamples: readonly Sample[] = [
  {
    rule: 'layer',
    breaks: [
      broken('src/core/a.ts', `import { b } from '../store/port.ts';`, 1),
      broken('src/core/a.ts', `const x = 1;\nimport type { B } from '../store/port.ts';`, 2),
      broken('src/core/a.ts', `export type { B } from '../store/port.ts';`, 1),
      broken('src/core/a.ts', `type B = import('../store/port.ts').B;`, 1),
      broken('src/core/a.ts', `export const b = () => import('../store/port.ts');`, 1),
      broken('src/core/a.ts', `export * from '../store/port.ts';`, 1),
      broken('src/core/a.ts', `import '../store/port.ts';`, 1),
      broken('src/core/a.ts', `let a = (b as C)! / 2;\nimport { c } from 'undici';`, 2),
      broken('src/engine/a.ts', `import { b } from '../store/postgres/pool.ts';`, 1),
      broken('src/engine/a.ts', `import { readFileSync } from 'node:fs';`, 1),
      broken('src/cli/a.ts', `import { b } from '../store/postgres/pool.ts';`, 1),
      broken('src/sdk/a.ts', `import type { Plan } from '../core/plan/plan.ts';`, 1),
      broken('src/server/a.ts', `import { a } from '../cli/main.ts';`, 1),
      broken('src/action/slack/a.ts', `import { a } from '../http/request.ts';`, 1),
      broken('src/action/registry.ts', `import { a } from './slack/post-message.ts';`, 1),
      broken('src/action/slack/a.ts', `import { request } from 'undici';`, 1),
      broken('src/store/port.ts', `import { a } from './postgres/pool.ts';`, 1),
      broken('src/engine/a.ts', `import { a } from '../driver/driver.ts';`, 1),
      broken('src/main.ts', `import { a } from '../scripts/generate.ts';`, 1),
      broken('src/engine/a.ts', `export const load = (path: string) => import(path);`, 1),
      broken('src/orphan/a.ts', `export const a = 1;`, 1),
      broken('examples/hello.ts', `import { a } from '../src/engine/a.ts';`, 1),
    ],
    keeps: [
      { 'src/core/a.ts': `import { b } from './b/b.ts';\nimport { parse } from 'acorn';` },
      { 'src/core/a.ts': `// import { b } from '../store/port.ts'\nexport const text = "from '../store/port.ts'";` },
      { 'src/core/a.test.ts': `import { b } from '../store/port.ts';` },
      { 'src/core/a.ts': `import { sha256 } from '@noble/hashes/sha2.js';` },
      { 'src/engine/a.ts': `import type { Store } from '../store/port.ts';` },
      { 'src/store/postgres/a.ts': `import type { Store } from '../port.ts';\nimport pg from 'pg';` },
      { 'src/action/http/a.ts': `import { defineAction } from '../action.ts';\nimport { request } from 'undici';` },
      {
        'src/main.ts': `import { a } from './action/slack/post-message.ts';\nimport { b } from './store/postgres/pool.ts';`,
      },
      { 'src/cli/a.ts': `import { createPawl } from '../main.ts';\nimport { Command } from 'commander';` },
    ],
  },
  {
    rule: 'no test code in the product',
    breaks: [
      broken('src/core/a.ts', `import { b } from './b.testing.ts';`, 1),
      broken('src/engine/a.ts', `import type { B } from '../../test/simulation/store.ts';`, 1),
    ],
    keeps: [{ 'src/core/a.test.ts': `import { b } from './b.testing.ts';` }],
  },
  {
    rule: 'portable',
    breaks: [
      {
        files: {
          'src/core/decider/a.ts': `import { b } from '../expression/b.ts';`,
          'src/core/expression/b.ts': `import { parse } from 'acorn';`,
        },
        at: ['src/core/expression/b.ts:1'],
      },
    ],
    keeps: [
      {
        'src/core/decider/a.ts': `import type { B } from '../expression/b.ts';`,
        'src/core/decider/a.test.ts': `import { it } from 'vitest';`,
        'src/core/decider/c.ts': `import { sha256 } from '@noble/hashes/sha2.js';`,
        'src/core/expression/b.ts': `import { parse } from 'acorn';`,
      },
    ],
  },
];

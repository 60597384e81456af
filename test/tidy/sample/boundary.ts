// Samples for rule/boundary.ts.

import { broken, type Sample } from '../sample.ts';

export const boundarySamples: readonly Sample[] = [
  {
    rule: 'SQL only in the store',
    breaks: [
      broken('src/engine/a.ts', `export const b = 'select id from executions';`, 1),
      broken('src/engine/a.ts', `export const b = 'SELECT 1';`, 1),
      broken(
        'src/server/a.ts',
        `export const b = (t: string) => \`\n  -- all\n  DELETE FROM \${t}\n  WHERE true\`;`,
        1,
      ),
      broken('src/server/a.ts', `export const b = 'insert into outbox (id) values ($1)';`, 1),
      broken('src/server/a.ts', `export const b = 'update execution_queue set state = $1';`, 1),
      broken('src/server/a.ts', `export const b = 'with due as (select 1) select * from due';`, 1),
      broken('src/cli/a.ts', `export const b = 'create table x (id int)';`, 1),
    ],
    keeps: [
      { 'src/store/postgres/a.ts': `export const b = 'select id from executions';` },
      { 'src/engine/a.test.ts': `export const b = 'select id from executions';` },
      { 'src/engine/a.ts': `// select id from executions\nexport const b = 'Select a value from the list';` },
      { 'src/engine/a.ts': `export const b = ['update', 'delete from the list', 'with this as it is', 'select'];` },
    ],
  },
  {
    rule: 'no code from text',
    breaks: [
      broken('src/core/a.ts', `eval('1');`, 1),
      broken('scripts/a.ts', `(0, eval)('1');`, 1),
      broken('bench/a.ts', `new Function('return 1');`, 1),
      broken('src/core/a.ts', `Function('return 1');`, 1),
      broken('test/tidy/a.ts', `import vm from 'node:vm';`, 1),
      broken('src/engine/a.ts', `export const b = () => import('node:vm');`, 1),
    ],
    keeps: [
      { 'src/core/a.test.ts': `import vm from 'node:vm';\neval('1');` },
      { 'src/core/a.ts': `export const banned = { eval: true, names: ['eval', 'Function'] };` },
      { 'src/core/a.ts': `export const isCallable = (value: unknown) => value instanceof Function;` },
    ],
  },
];

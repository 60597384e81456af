// Samples for rule/shape.ts.

import { broken, type Sample } from '../sample.ts';

const lines = (count: number): string => '// line\n'.repeat(count);

export const shapeSamples: readonly Sample[] = [
  {
    rule: 'file length',
    breaks: [broken('src/core/a.ts', lines(401), 401), broken('scripts/a.ts', lines(401), 401)],
    keeps: [{ 'src/core/a.ts': lines(400) }, { 'docs/long.md': lines(500) }],
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
];

// Samples for rule/document.ts.

import { broken, type Sample } from '../sample.ts';

export const documentSamples: readonly Sample[] = [
  {
    rule: 'documents name real files',
    breaks: [
      broken('README.md', 'See\n`src/core/plan.ts` and `src/core`.', 2, 2),
      broken('docs/operations.md', 'See `migrations/`.', 1),
    ],
    keeps: [
      { 'README.md': 'See `src/core/plan.ts`, `src/core/` and `npm test`.', 'src/core/plan.ts': '' },
      { 'README.md': 'See `src/sdk` (to come), `src/action/<connector>/` and `src/action/*`.' },
      { 'CHANGELOG.md': 'Removed `src/core/old.ts`.', 'docs/decisions/0001-a.md': 'Not `src/core/old.ts`.' },
    ],
  },
];

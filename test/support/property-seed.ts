// Property tests draw the same cases on every run, so that a red gate means a change and not a lucky draw. To search further:
// PAWL_TEST_SEED=random (or a number) npx vitest run <folder>.

import fc from 'fast-check';

const asked = process.env.PAWL_TEST_SEED ?? '20261115';
if (asked !== 'random') fc.configureGlobal({ seed: Number(asked) });

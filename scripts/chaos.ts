// Real processes, a real database and real faults (`npm run chaos -- --minutes N --seed S`): see test/chaos. Ends with 1 when a
// promise was broken, and shows the rows.

import { parseArgs } from 'node:util';
import { runChaos } from '../test/chaos/chaos.ts';
import { formatReport } from '../test/chaos/report.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now()) },
    rate: { type: 'string', default: '8' },
    calm: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const startsPerSecond = Number(values.rate);
if (!(minutes > 0) || !(startsPerSecond > 0)) {
  console.error('Usage: npm run chaos -- [--minutes N] [--seed S] [--rate EXECUTIONS_PER_SECOND] [--calm]');
  process.exit(2);
}
const startedAt = Date.now();
const report = await runChaos({
  seed: values.seed,
  stormMs: minutes * 60_000,
  startsPerSecond,
  faults: !values.calm,
  onProgress: (step) => console.log(`${Math.round((Date.now() - startedAt) / 1_000)} s: ${step}`),
});
console.log(formatReport(report));
process.exitCode = report.violations.length > 0 ? 1 : 0;

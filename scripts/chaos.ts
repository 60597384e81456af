// Tests with real processes, a real database and real faults (`npm run chaos -- --minutes N --seed S [--driver D |
// --messaging]`): see test/chaos. They cover executions, or lifecycles and deliveries. Exits with 1 when a promise was broken,
// and shows the rows.

import { OUTSIDE_DRIVERS } from '../src/store/external-port.ts';
import { runChaos } from '../test/chaos/chaos.ts';
import { runMessagingChaos } from '../test/chaos/messaging/messaging-chaos.ts';
import { formatReport, violationLines } from '../test/chaos/report.ts';
import type { Violation } from '../test/chaos/violation.ts';
import { endWithUsage, readOptions } from './command-line.ts';

const USAGE = `Usage: npm run chaos -- [--minutes N] [--seed S] [--rate EXECUTIONS_PER_SECOND] [--calm]
                        [--driver native|${OUTSIDE_DRIVERS.join('|')}] [--messaging]`;
const values = readOptions(USAGE, {
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string', default: String(Date.now()) },
  rate: { type: 'string' },
  driver: { type: 'string', default: 'native' },
  calm: { type: 'boolean', default: false },
  messaging: { type: 'boolean', default: false },
});
const minutes = Number(values.minutes);
const startsPerSecond = values.rate === undefined ? undefined : Number(values.rate);
const driver = OUTSIDE_DRIVERS.find((name) => name === values.driver);
if (driver === undefined && values.driver !== 'native') endWithUsage(USAGE, `unknown driver "${values.driver}"`);
if (!(minutes > 0) || !((startsPerSecond ?? 1) > 0))
  endWithUsage(USAGE, '--minutes and --rate must be numbers above 0');
const startedAt = Date.now();
const onProgress = (step: string) => console.log(`${Math.round((Date.now() - startedAt) / 1_000)} s: ${step}`);
const { seed } = values;
const stormMs = minutes * 60_000;
const violations = values.messaging ? await storyOfMessaging() : await storyOfExecutions();
process.exitCode = violations.length > 0 ? 1 : 0;

async function storyOfExecutions(): Promise<readonly Violation[]> {
  const report = await runChaos({ seed, stormMs, driver, startsPerSecond, faults: !values.calm, onProgress });
  console.log(formatReport(report));
  return report.violations;
}

async function storyOfMessaging(): Promise<readonly Violation[]> {
  const { violations: found, ...counts } = await runMessagingChaos({ seed, stormMs, onProgress });
  console.log(JSON.stringify({ seed, ...counts }, null, 2));
  for (const line of violationLines(found)) console.log(line);
  return found;
}

// npm run bench: our numbers, the floor's and our peers', measured in one run on one machine. Prints tables, writes
// bench/results.json. `npm run bench -- --help` lists the scenarios.

import { type Choice, readCommandLine, UsageError, type Wanted } from './command-line.ts';
import { coreScenarios } from './core.ts';
import { openDatabase, startServer } from './database.ts';
import { describeMachine, printMachine } from './machine.ts';
import { Report } from './report.ts';
import { awaited } from './scenario/awaited.ts';
import { cliffs } from './scenario/cliffs.ts';
import { conductorScenario } from './scenario/conductor.ts';
import { connectionScenario } from './scenario/connection.ts';
import { dashboardScenario } from './scenario/dashboard.ts';
import { deliveryScenarios } from './scenario/delivery.ts';
import { enqueueScenarios } from './scenario/enqueue.ts';
import { fleetScenario } from './scenario/fleet.ts';
import { httpScenarios } from './scenario/http.ts';
import { idle } from './scenario/idle.ts';
import { languageScenario } from './scenario/language.ts';
import { latencyScenarios } from './scenario/latency.ts';
import { lifecycleScenarios } from './scenario/lifecycle.ts';
import { listScenario } from './scenario/list.ts';
import { nodeCost } from './scenario/node-cost.ts';
import { peers } from './scenario/peers.ts';
import { pipelineScenarios } from './scenario/pipeline.ts';
import { planScenarios } from './scenario/plan.ts';
import { store } from './scenario/store.ts';
import { takeover } from './scenario/takeover.ts';
import { temporalScenario } from './scenario/temporal.ts';
import { throughputScenarios } from './scenario/throughput.ts';
import { waitingScenarios } from './scenario/waiting.ts';
import type { Scenario } from './scenario.ts';

const DATABASE_SCENARIOS: readonly Scenario[] = [
  ...throughputScenarios,
  ...latencyScenarios,
  // The peers run straight after the numbers that they are compared with.
  peers,
  ...enqueueScenarios,
  awaited,
  cliffs,
  ...httpScenarios,
  connectionScenario,
  listScenario,
  dashboardScenario,
  ...pipelineScenarios,
  ...lifecycleScenarios,
  ...deliveryScenarios,
  nodeCost,
  ...planScenarios,
  languageScenario,
  store,
  idle,
  fleetScenario,
  takeover,
  ...waitingScenarios,
  temporalScenario,
  conductorScenario,
];
const CHOICES: readonly Choice[] = [...coreScenarios, ...DATABASE_SCENARIOS];

try {
  await run(readCommandLine(process.argv.slice(2), CHOICES));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function run(wanted: Wanted): Promise<void> {
  const report = new Report();
  for (const scenario of coreScenarios) {
    if (!wanted.scenarios.includes(scenario.name)) continue;
    report.progress(`${scenario.name}: ${scenario.about}`);
    scenario.run(report);
  }
  const scenarios = DATABASE_SCENARIOS.filter(({ name }) => wanted.scenarios.includes(name));
  const postgres = scenarios.length === 0 ? null : await runOnDatabase(scenarios, wanted, report);
  const machine = describeMachine(postgres, wanted.scale);
  report.print();
  printMachine(machine);
  report.write(machine);
  console.log('Written to bench/results.json');
}

/** Returns the version of the server. */
async function runOnDatabase(scenarios: readonly Scenario[], wanted: Wanted, report: Report): Promise<string> {
  report.progress('starting the database');
  const server = await startServer();
  try {
    const database = await openDatabase(server);
    const scaled = (size: number) => Math.max(2, Math.round(size * wanted.scale));
    for (const scenario of scenarios) {
      report.progress(`${scenario.name}: ${scenario.about}`);
      try {
        await scenario.run({ server, database, report, quick: wanted.quick, rows: wanted.rows, scaled });
      } catch (error) {
        // The other results are still useful, but the command has failed.
        process.exitCode = 1;
        report.skipped(scenario.name, error instanceof Error ? (error.stack ?? error.message) : String(error));
      }
    }
    await database.close();
    return server.version;
  } finally {
    await server.stop();
  }
}

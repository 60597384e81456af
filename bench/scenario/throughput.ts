// Many executions at once: our engine and the floor in turns on the same database, as medians. One step, ten in a row, ten in
// parallel. The queue is filled before the clock starts, and the clock stops when the last execution has ended.

import type { Json } from '../../src/core/json/json.ts';
import { runFloor } from '../floor.ts';
import { type FloorTurn, learnTurns } from '../floor-rows.ts';
import { median } from '../measurement.ts';
import { openPawl, type RunResult, runQueue } from '../native-run.ts';
import { type Bench, type Scenario, warmUpMs } from '../scenario.ts';
import { chainWorkflow, enqueue, parallelWorkflow, publish } from '../workload.ts';

const ROUNDS = 5;
const QUICK_ROUNDS = 3;
/** `--quick` stays under a minute, even on a slow machine: no round begins that would probably not end in time. */
const QUICK_BUDGET_MS = 18_000;
const QUICK_SHARE = 1 / 3;
/** This many executions run before the floor learns what one leaves. */
const TO_LEARN_FROM = 500;

interface Shape {
  readonly name: string;
  readonly about: string;
  readonly definition: Json;
  readonly steps: number;
  /** Enough for some seconds of work, as the peers get: opening connections must not count for much. */
  readonly executions: number;
  /** What is counted: whole executions, or their steps. */
  readonly unit: 'executions/s' | 'steps/s';
  /** Ten parallel steps finish in a different order each time, so there are no rows to learn. */
  readonly shareOfFloor: number | null;
  readonly cpu?: true;
}

const SHAPES: readonly Shape[] = [
  {
    name: 'one-step',
    about: 'executions/s of one step, ours and the floor',
    definition: chainWorkflow('one-step', 1),
    steps: 1,
    executions: 60_000,
    unit: 'executions/s',
    shareOfFloor: 0.5,
  },
  {
    name: 'ten-step',
    about: 'steps/s of ten in a row, ours and the floor; CPU per step',
    definition: chainWorkflow('ten-step', 10),
    steps: 10,
    executions: 12_000,
    unit: 'steps/s',
    shareOfFloor: 0.4,
    cpu: true,
  },
  {
    name: 'ten-parallel',
    about: 'steps/s of ten in parallel',
    definition: parallelWorkflow('ten-parallel', 10),
    steps: 10,
    executions: 4_000,
    unit: 'steps/s',
    shareOfFloor: null,
  },
];

export const throughputScenarios: readonly Scenario[] = SHAPES.map((shape) => ({
  name: shape.name,
  about: shape.about,
  run: (bench) => measure(bench, shape),
}));

async function measure(bench: Bench, shape: Shape): Promise<void> {
  const { report } = bench;
  const executions = executionsOf(bench, shape);
  const perSecond = (seconds: number) => rateOf(shape, executions, seconds);
  const { ours, floor } = await rounds(bench, shape, executions);
  const rate = median(ours.map(({ seconds }) => perSecond(seconds)));
  report.row(shape.name, 'pawl', shape.unit, rate);
  if (shape.shareOfFloor !== null) {
    const floorRate = median(floor.map(perSecond));
    report.row(shape.name, 'floor', shape.unit, floorRate);
    report.ratio(`${shape.name}/floor`, rate / floorRate, { atLeast: shape.shareOfFloor });
  }
  if (shape.cpu) reportCpu(bench, shape, ours, executions * shape.steps);
}

function executionsOf({ quick, scaled }: Bench, { executions }: Shape): number {
  return scaled(quick ? executions * QUICK_SHARE : executions);
}

function rateOf({ unit, steps }: Shape, executions: number, seconds: number): number {
  return (unit === 'steps/s' ? executions * steps : executions) / seconds;
}

/** Our engine alone, a few rounds, for measurements that are compared with it. */
export function oursNow(bench: Bench, name: 'one-step' | 'ten-step', count: number): Promise<number[]> {
  const shape = SHAPES.find((each) => each.name === name)!;
  const executions = executionsOf(bench, shape);
  return withQueue(bench, shape, async (refill) => {
    const rates: number[] = [];
    for (let round = 0; round < count; round++) {
      await refill(executions);
      rates.push(rateOf(shape, executions, (await runQueue(bench.database, executions)).seconds));
    }
    return rates;
  });
}

/** Empties the database and puts `count` executions into it. */
type Refill = (count: number) => Promise<void>;

async function withQueue<Result>(
  { database }: Bench,
  { definition }: Shape,
  work: (refill: Refill) => Promise<Result>,
): Promise<Result> {
  await database.clear();
  const door = await openPawl(database, { runner: false });
  try {
    const workload = await publish(door, definition);
    return await work(async (count) => {
      await database.clear();
      await enqueue(door, workload, count);
    });
  } finally {
    await door.close();
  }
}

function rounds(bench: Bench, shape: Shape, executions: number) {
  const { database, report, server } = bench;
  return withQueue(bench, shape, async (refill) => {
    const ours: RunResult[] = [];
    const floor: number[] = [];
    const turns = await warmUp(bench, shape, refill);
    const started = performance.now();
    for (let round = 0; round < (bench.quick ? QUICK_ROUNDS : ROUNDS); round++) {
      const soFar = performance.now() - started;
      if (bench.quick && round > 0 && soFar + soFar / round > QUICK_BUDGET_MS) break;
      report.progress(`${shape.name}: round ${round + 1}, ${executions} executions`);
      if (turns !== null) {
        await refill(executions);
        floor.push(await runFloor(database, turns, executions));
      }
      await refill(executions);
      ours.push(await runQueue(database, executions, { postgresPid: server.pid }));
    }
    return { ours, floor };
  });
}

/** Some executions teach the floor its rows; then both run until the compiler has seen everything. */
async function warmUp(bench: Bench, shape: Shape, refill: Refill): Promise<FloorTurn[] | null> {
  const { database, report, scaled } = bench;
  const { name, shareOfFloor, executions } = shape;
  report.progress(`${name}: warming up`);
  await refill(TO_LEARN_FROM);
  await runQueue(database, TO_LEARN_FROM);
  const turns = shareOfFloor === null ? null : await learnTurns(database);
  const count = scaled(executions / 10);
  if (turns !== null) {
    await refill(count);
    await runFloor(database, turns, count);
  }
  for (let ranMs = 0; ranMs < warmUpMs(bench); ) {
    await refill(executionsOf(bench, shape));
    ranMs += (await runQueue(database, executionsOf(bench, shape))).seconds * 1000;
  }
  return turns;
}

function reportCpu({ report, quick }: Bench, { name }: Shape, ours: readonly RunResult[], steps: number): void {
  const javascript = median(ours.map(({ javascriptUs }) => javascriptUs / steps));
  report.row(`${name}-cpu`, 'pawl: JavaScript', 'µs/step', javascript);
  const postgres = ours.flatMap(({ postgresUs }) => (postgresUs === null ? [] : [postgresUs / steps]));
  if (postgres.length > 0) report.row(`${name}-cpu`, 'pawl: PostgreSQL', 'µs/step', median(postgres));
  else report.skipped('the CPU time of PostgreSQL', 'it needs Linux and a server on this machine (no DATABASE_URL)');
  if (quick) return;
  report.ratio(`${name}-cpu/javascript-us`, javascript, { atMost: 50 });
  if (postgres.length > 0) report.ratio(`${name}-cpu/postgres-us`, median(postgres), { atMost: 30 });
}

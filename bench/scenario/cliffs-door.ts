// Cliffs at the entrances of the engine: callbacks, quotas, schemas, publishing, events, schedules, retention. Rows of `cliffs`.

import { setTimeout as delay } from 'node:timers/promises';
import { callbackToken } from '../../src/execution/callback-token.ts';
import type { Pawl } from '../../src/main.ts';
import { percentile } from '../measurement.ts';
import type { Bench } from '../scenario.ts';
import { chainWorkflow, publish, TENANT } from '../workload.ts';

/** Starts `count` executions with many callers; resolves with the rate when all have ended. */
export async function perSecond(pawl: Pawl, count: number, start: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await crowd(count, start);
  await drained(pawl);
  return count / ((performance.now() - startedAt) / 1000);
}

const CALLERS = 200;

async function crowd(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(CALLERS, count) }, caller));
}

async function drained(pawl: Pawl): Promise<void> {
  while ((await pawl.store.queueDepth()).length > 0) await delay(5);
}

/** A burst of callbacks, and how long a one-step execution of another tenant takes meanwhile. */
export async function callbacks({ report, scaled }: Bench, pawl: Pawl, plain: number): Promise<void> {
  const count = scaled(5_000);
  const { workflowId } = await publish(pawl, { name: 'waits', tasks: { paid: { wait_for_webhook: {} } } });
  const ids: string[] = [];
  await crowd(count, async () => ids.push((await pawl.start(workflowId)).executionId));
  while ((pawl.metrics.get('parked') ?? 0) < count) await delay(20);
  const key = await pawl.store.secretGet({ name: 'callback' });
  const waits: number[] = [];
  let isOver = false;
  const others = (async () => {
    while (!isOver) waits.push(await oneStep(pawl));
  })();
  const startedAt = performance.now();
  await crowd(count, (n) => pawl.executions.callBack(callbackToken(key, { executionId: ids[n]!, nodeId: 'paid' }), {}));
  await Promise.all(ids.map((id) => pawl.result(id)));
  const rate = count / ((performance.now() - startedAt) / 1000);
  isOver = true;
  await others;
  report.row('cliff-callbacks', 'called back to the end', 'executions/s', rate);
  report.required('cliff-callbacks/one-step', rate / plain, { atLeast: 0.5 });
  report.required('cliff-callbacks/others-ms', percentile(waits, 0.99), { atMost: 250 });
}

async function oneStep(pawl: Pawl): Promise<number> {
  const startedAt = performance.now();
  await pawl.result((await pawl.start('one-step', { trigger: { x: 1 } })).executionId);
  return performance.now() - startedAt;
}

/** A tenant whose quota is far from full. */
export async function quota({ report, scaled }: Bench, pawl: Pawl, plain: number): Promise<void> {
  const tenantId = 'limited';
  await pawl.publish(chainWorkflow('one-step', 1), { tenantId });
  await pawl.quotas.put(tenantId, { limits: { concurrentRuns: 1_000_000, executionsPerMonth: 1_000_000_000 } });
  const start = () => pawl.start('one-step', { tenantId, trigger: { x: 1 } });
  await perSecond(pawl, scaled(2_000), start);
  const rate = await perSecond(pawl, scaled(20_000), start);
  report.row('cliff-quota', 'with a quota', 'executions/s', rate);
  report.required('cliff-quota/one-step', rate / plain, { atLeast: 0.6 });
}

export async function triggerSchema({ report, scaled }: Bench, pawl: Pawl, plain: number): Promise<void> {
  const code = { type: 'string', pattern: '^[A-Z]{3}-[0-9]+$' };
  const triggerSchema = { type: 'object', properties: { code: { $ref: '#/$defs/code' } }, $defs: { code } };
  const definition = { ...(chainWorkflow('checked', 1) as object), triggerSchema };
  const { workflowId } = await pawl.publish(definition);
  const start = () => pawl.start(workflowId, { trigger: { x: 1, code: 'ABC-123' } });
  await perSecond(pawl, scaled(2_000), start);
  const rate = await perSecond(pawl, scaled(20_000), start);
  report.row('cliff-trigger-schema', 'with pattern and $ref', 'executions/s', rate);
  report.required('cliff-trigger-schema/one-step', rate / plain, { atLeast: 0.7 });
}

/** Compares the last thousand of 8,000 with the first. */
export async function publishing({ report, scaled }: Bench, pawl: Pawl): Promise<void> {
  const step = scaled(1_000);
  const rates: number[] = [];
  for (let thousand = 0; thousand < 8; thousand++) {
    const startedAt = performance.now();
    for (let n = 0; n < step; n++) await pawl.publish(chainWorkflow(`p-${thousand}-${n}`, 1));
    rates.push(step / ((performance.now() - startedAt) / 1000));
  }
  report.row('cliff-publishing', 'the first thousand', 'workflows/s', rates[0]!);
  report.row('cliff-publishing', 'the eighth thousand', 'workflows/s', rates.at(-1)!);
  report.required('cliff-publishing/last-to-first', rates.at(-1)! / rates[0]!, { atLeast: 0.8 });
}

/** 1,000 triggers listen to one type of event; the filters let one trigger through. */
export async function eventTriggers({ report, scaled }: Bench, pawl: Pawl): Promise<void> {
  const { triggers, intake } = pawl.triggering;
  for (let n = 0; n < 1_000; n++) {
    const config = { eventType: 'paid', filter: `trigger.shop == ${n}` };
    await triggers.create(TENANT, { workflowId: 'one-step', triggerType: 'Event', config });
  }
  const send = (n: number) => intake.event(TENANT, { type: 'paid', data: { shop: n % 1_000, x: 1 } }, {});
  await crowd(scaled(500), send);
  const count = scaled(5_000);
  const startedAt = performance.now();
  await crowd(count, send);
  const rate = count / ((performance.now() - startedAt) / 1000);
  await drained(pawl);
  report.row('cliff-event-triggers', '1,000 filters', 'events/s', rate);
  report.required('cliff-event-triggers/s', rate, { atLeast: 1_500 });
}

/** 5,000 schedules that are all due every second: how many slots are started per second. */
export async function schedules({ report, scaled }: Bench, pawl: Pawl): Promise<void> {
  const count = scaled(5_000);
  await crowd(count, () =>
    pawl.triggering.triggers.create(TENANT, {
      workflowId: 'one-step',
      triggerType: 'Schedule',
      config: { cron: '* * * * * *', payload: { x: 1 } },
    }),
  );
  const seconds = 10;
  await delay(2_000);
  const before = pawl.metrics.get('ended') ?? 0;
  await delay(seconds * 1_000);
  const rate = ((pawl.metrics.get('ended') ?? 0) - before) / seconds;
  report.row('cliff-schedules', `${count} in a second`, 'executions/s', rate);
  report.required('cliff-schedules/kept-up', rate / count, { atLeast: 0.95 });
}

/** Ended executions are removed as fast as new ones are created. */
export async function retention({ database, report, scaled }: Bench, pawl: Pawl): Promise<void> {
  const startedAt = performance.now();
  const made = scaled(60_000);
  const start = () => pawl.start('one-step', { trigger: { x: 1 } });
  await perSecond(pawl, made, start);
  const seconds = (performance.now() - startedAt) / 1000;
  const [row] = await database.query<{ kept: number }>('select count(*)::int as kept from execution_outcomes');
  const { kept } = row!;
  report.row('cliff-retention', 'left when the last had ended', 'executions', kept);
  report.required('cliff-retention/removed-to-made', (made - kept) / made, { atLeast: 1 - 2 / Math.max(seconds, 2) });
}

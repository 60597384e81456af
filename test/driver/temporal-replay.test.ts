// Recorded histories of everything that the interpreter does, replayed on the current interpreter without a server. A change of
// what the interpreter does, or of the order, must be guarded with patched(), or a worker that takes over a running execution
// cannot go on (docs/temporal.md, "Changing the interpreter").
//
// To record them again on a real server: RECORD_HISTORIES=1 npx vitest run test/driver/temporal-replay.test.ts

import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, test } from 'vitest';
import { bundleInterpreter } from '../../src/driver/temporal/bundle.ts';
import { driverPair, runOn, TENANT } from '../conformance/driver-pair.ts';
import { NAMED_CASES } from '../conformance/named-case.ts';
import { eventually } from '../engine/engine-under-test.ts';
import { delay, graph } from '../engine/workflow-definition.ts';
import {
  CANCELLED_THERE,
  CONTINUED_CASES,
  forgetHistories,
  RECORDED_CASES,
  record,
  recordedHistories,
} from './recorded-history.ts';

const isRecording = process.env.RECORD_HISTORIES === '1';
const SOURCE = fileURLToPath(new URL('../../src/driver/temporal/interpreter.ts', import.meta.url));

describe.runIf(isRecording)('recording of histories', () => {
  beforeAll(forgetHistories);
  const pairs = [
    { pair: driverPair(), names: RECORDED_CASES },
    { pair: driverPair({ maxEvents: 20 }), names: CONTINUED_CASES, suffix: ' continued' },
  ];
  const cases = pairs.flatMap(({ pair, names, suffix = '' }) => names.map((name) => [name, pair, suffix] as const));
  test.each(cases)('the history of this case is recorded: %s', { timeout: 120_000 }, async (name, pair, suffix) => {
    const { definition, also = [], trigger, during } = NAMED_CASES.find((each) => each.name === name)!;
    for (const other of also) await pair.pawl.publish(other);
    let id = '';
    const meanwhile: typeof during = async (doing) => {
      id = doing.executionId;
      await during?.(doing);
    };
    await runOn(pair, 'temporal', definition, { trigger, during: meanwhile });
    await record(pair.pawl, pair.server.address, id, `${name}${suffix}`);
  });

  test(CANCELLED_THERE, { timeout: 120_000 }, async () => {
    const [{ pair }] = pairs as [(typeof pairs)[0]];
    const { workflowId } = await pair.pawl.publish(graph('cancelled-there', [delay('nap', 600_000)]));
    const { executionId } = await pair.pawl.start(workflowId, { driver: 'temporal' });
    await eventually(async () => (await pair.pawl.executions.get(TENANT, executionId)).status).toBe('Running');
    const connection = await Connection.connect({ address: pair.server.address });
    const { workflow } = new Client({ connection, namespace: 'default-default' });
    await workflow.getHandle(`pawl/${executionId}/1`).cancel();
    await pair.pawl.result(executionId);
    await record(pair.pawl, pair.server.address, executionId, CANCELLED_THERE);
    await connection.close();
  });
});

describe('recorded histories', () => {
  let code: string;
  beforeAll(async () => {
    code = await bundleInterpreter(SOURCE);
  }, 120_000);

  /** The names of the histories that do not replay on this code. */
  async function failing(interpreter: string): Promise<string[]> {
    const failed: string[] = [];
    const results = Worker.runReplayHistories({ workflowBundle: { code: interpreter } }, recordedHistories());
    for await (const { workflowId, error } of results) if (error !== undefined) failed.push(workflowId);
    return failed;
  }
  const ADVANCE = 'this.take(await turns.advance(';
  const CHANGE = 'await turns.cancelled({ executionId, epoch });';
  const changed = (change: string): string => {
    const text = code.replace(ADVANCE, `${change} ${ADVANCE}`);
    expect(text).not.toBe(code);
    return text;
  };

  test('recorded histories replay on the current interpreter', { timeout: 120_000 }, async () => {
    const files = recordedHistories().map(({ workflowId }) => workflowId);
    for (const name of [...RECORDED_CASES, CANCELLED_THERE]) {
      expect(files).toContainEqual(expect.stringContaining(`${name.replaceAll(/[^a-zA-Z]+/g, '-')}-1`));
    }
    expect(files.filter((file) => file.includes('-continued-')).length).toBeGreaterThan(1);
    expect(await failing(code)).toEqual([]);
  });

  test('recorded histories do not replay on an interpreter that was changed without a guard', {
    timeout: 120_000,
  }, async () => {
    expect(await failing(changed(CHANGE))).toEqual(recordedHistories().map(({ workflowId }) => workflowId));
  });

  test('recorded histories replay on an interpreter whose change is guarded', { timeout: 120_000 }, async () => {
    const sdk = /\(0,\s*([\w$]+)\.condition\)\(/.exec(code)![1]!;
    expect(await failing(changed(`if (${sdk}.patched('planted')) ${CHANGE}`))).toEqual([]);
  });
});

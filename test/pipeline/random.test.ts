// Random pipelines through the API, compared with an independent reading of docs/pipelines.md: every status, status code, body
// and message.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServers } from '../../src/action/http/server.testing.ts';
import { createRandom } from '../chaos/random.ts';
import { useApi } from '../workflow/api.ts';
import { answerRequest, randomPipeline, TRIGGER } from './random-pipeline.ts';
import { readPipeline, shownStatus } from './reading.ts';
import { create, ended, getRun, trigger } from './run.ts';

const api = useApi();
const servers = testServers();
let app: string;
beforeAll(async () => {
  app = (await servers.recording(answerRequest)).url;
});
afterAll(() => servers.close());

const PIPELINES = 40;

async function check(seed: string): Promise<void> {
  const { tasks, meaning } = randomPipeline(createRandom(seed), app);
  const created = await create(api(), seed, tasks);
  expect(created.status, JSON.stringify([created.body, tasks])).toBe(201);
  const runId = await trigger(api(), seed, TRIGGER);
  await ended(api(), seed, runId);
  const run = await getRun(api(), seed, runId, '?include=body');
  expect(run.status, seed).toBe('completed');
  for (const [name, { view, message }] of readPipeline(meaning)) {
    const { status, status_code, response_body = null, error_message } = run.tasks[name]!;
    const expected = { status: shownStatus(view), status_code: view.status_code, response_body: view.body };
    expect({ status, status_code, response_body }, `${seed}: ${JSON.stringify(tasks, null, 1)}`).toEqual(expected);
    if (message !== undefined) expect(error_message, `${seed} ${name}`).toBe(message);
  }
}

it('every task of a random pipeline ends as an independent model says', async () => {
  await Promise.all(Array.from({ length: PIPELINES }, (_, index) => check(`random-${index}`)));
});

// As many calls run at once as actions may run, even when all of them go to one host. A call that waited in the client for a
// connection would use up the time of its attempt.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { useApi } from '../workflow/api.ts';
import { create, ended, trigger } from './run.ts';

/** More than the number of connections that one host gets by default. */
const AT_ONCE = 300;

const api = useApi({ http: { allowLoopback: true }, engine: { maxParallelActions: AT_ONCE } });

it('a pipeline can call one host as many times at once as actions may run', async () => {
  const { url } = await serverThatAnswersAll(AT_ONCE);
  const tasks = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`t${index}`, { url }]));
  await create(api(), 'all-at-once', tasks);
  const runIds = await Promise.all(Array.from({ length: AT_ONCE / 50 }, () => trigger(api(), 'all-at-once')));
  for (const runId of runIds) {
    const { tasks } = await ended(api(), 'all-at-once', runId);
    expect(new Set(Object.values(tasks).map(({ status }) => status))).toEqual(new Set(['success']));
  }
});

/** Answers nobody until `count` requests have come. */
async function serverThatAnswersAll(count: number) {
  let waiting: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    waiting.push(response);
    if (waiting.length < count) return;
    for (const each of waiting) each.end('{}');
    waiting = [];
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

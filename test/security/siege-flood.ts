// A client that sends requests as fast as they are answered. It runs in a thread of its own, because a client that shared the
// event loop of the server would itself be the attack.

import { parentPort, workerData } from 'node:worker_threads';

export interface Flood {
  readonly url: string;
  readonly atOnce: number;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Uses a new key for each request. */
  readonly forgeKeys?: boolean;
}

const { url, atOnce, method, headers, body, forgeKeys } = workerData as Flood;
const forged = () => ({ 'x-api-key': `pawl_${crypto.randomUUID().replaceAll('-', '').padEnd(43, 'x')}` });

async function keepAsking(): Promise<never> {
  for (;;) {
    const proof = forgeKeys === true ? forged() : {};
    await fetch(url, { method, headers: { ...headers, ...proof }, ...(body === undefined ? {} : { body }) })
      .then((answer) => answer.text())
      .catch(() => new Promise((resolve) => setTimeout(resolve, 20)));
  }
}

for (let count = 0; count < atOnce; count++) void keepAsking();
parentPort?.postMessage('begun');

// A consumer as a process of its own, which dies at random: before it has recorded a message, before it answers, before it has
// processed the message, before it says so. Its ledger is a file, on disk before anything is answered; its next life reads the
// file.

import { closeSync, existsSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../random.ts';
import { type LedgerLine, readLedger } from './consumer-ledger.ts';

interface ConsumerSettings {
  readonly code: string;
  readonly port: number;
  readonly ledger: string;
  readonly nodePorts: readonly number[];
  readonly seed: string;
  /** How likely the process dies at each of the possible places, as long as this file exists. */
  readonly death: number;
  readonly storm: string;
  readonly life: number;
}

run(JSON.parse(process.argv[2]!) as ConsumerSettings);

function run({ code, port, ledger, nodePorts, seed, death, storm, life }: ConsumerSettings): void {
  process.on('disconnect', () => process.exit());
  const random = createRandom(`${seed}/${life}`);
  const file = openSync(ledger, 'a');
  const processed = new Set(
    readLedger(ledger)
      .filter(({ type }) => type === 'processed')
      .map(({ guid }) => guid),
  );
  process.once('exit', () => closeSync(file));

  const write = (line: LedgerLine) => {
    writeSync(file, `${JSON.stringify(line)}\n`);
    fdatasyncSync(file);
  };
  const mayDie = () => {
    if (random.chance(death) && existsSync(storm)) process.kill(process.pid, 'SIGKILL');
  };
  const finish = (guid: string) => {
    mayDie();
    if (!processed.has(guid)) write({ type: 'processed', guid, at: Date.now() });
    processed.add(guid);
    mayDie();
  };

  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    const guid = String(request.headers['webhook-id']);
    mayDie();
    write({ type: 'received', guid, at: Date.now(), body });
    mayDie();
    const answer = (status: number, said: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    if (random.chance(0.05)) return void answer(503, {});
    if (random.chance(0.3)) {
      finish(guid);
      return void answer(200, { stage: 'Processed' });
    }
    answer(200, {});
    await delay(random.between(0, 300));
    finish(guid);
    await acknowledge(guid);
    write({ type: 'acked', guid, at: Date.now() });
  });
  server.listen(port, '127.0.0.1', () => process.send?.('ready'));

  /** Again and again, until the acknowledgement is answered. */
  async function acknowledge(guid: string): Promise<void> {
    for (;;) {
      const url = `http://127.0.0.1:${random.pick(nodePorts)}/api/v1/deliveries/${guid}/ack`;
      const body = JSON.stringify({ consumer: code, stage: 'Processed' });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers, body }).catch(() => null);
      await response?.body?.cancel();
      if (response?.status === 200) return;
      await delay(100);
    }
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

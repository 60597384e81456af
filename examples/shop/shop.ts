// The program that the pipeline beside this file calls: it charges, fails once as networks do, and reports the payment a
// moment later by calling back.
//
//   npx node examples/shop/shop.ts           on port 7300; another one as an argument
//
// Every call carries an `Idempotency-Key` that stays the same however often it is tried: keep what you did under it.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

interface Order {
  readonly order_id?: number;
  readonly callback_url?: string;
  readonly payment_id?: string;
}

let calls = 0;

const server = createServer(async (request, answer) => {
  const { status, body } = await serve(request);
  console.log(`${request.method} ${request.url} ${status}`);
  answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

async function serve(request: IncomingMessage): Promise<{ status: number; body: object }> {
  if (request.method !== 'POST') return { status: 405, body: { error: 'the shop takes orders by POST' } };
  const order = (await json(request)) as Order;
  if (request.url === '/checkout') {
    if (++calls === 1) return { status: 503, body: { error: 'busy' } };
    setTimeout(() => void pay(order), 500);
    return { status: 200, body: { amount: 42 } };
  }
  return { status: 200, body: { shipped: order.order_id, payment: order.payment_id } };
}

/** The customer has paid: whoever waits for it is told. */
async function pay({ order_id, callback_url }: Order): Promise<void> {
  const body = JSON.stringify({ status: 'paid', payment_id: `pay-${order_id}` });
  await fetch(callback_url!, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

server.listen(Number(process.argv[2] ?? 7300), '127.0.0.1', () => {
  console.log(`The shop is open at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

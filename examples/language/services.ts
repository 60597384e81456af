// The services that the workflows beside this file call: payments, stock, jobs, customers, suppliers, exchange rates and locks. Each
// keeps what it did under the `Idempotency-Key` of the request, so a call that is tried again changes nothing.
//
//   npx node examples/language/services.ts        on port 7310

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Services {
  readonly url: string;
  /** What changed something, once for each key: "POST /payments". */
  readonly done: readonly string[];
  close(): Promise<void>;
}

type Answer = readonly [status: number, body: object];

const CUSTOMERS = ['Ada', 'Bob', 'Cy', 'Dee', 'Eve'];
const PAGE = 2;

/** `before` is asked before each answer: a test may hold one back. */
export async function openServices(
  port: number,
  before: (call: string) => Promise<void> = async () => {},
): Promise<Services> {
  const done: string[] = [];
  const answers = new Map<string, Answer>();
  const seen = new Map<string, number>();
  const serve = createService(seen);

  async function answer(request: IncomingMessage): Promise<Answer> {
    const call = `${request.method} ${request.url?.split('?')[0]}`;
    const body = request.method === 'GET' ? {} : ((await json(request)) as Record<string, unknown>);
    await before(call);
    const key = String(request.headers['idempotency-key'] ?? '');
    const known = answers.get(key);
    if (known !== undefined) return known;
    const given = serve(call, new URL(request.url!, 'http://localhost').searchParams, body);
    // A refusal did nothing: it may be answered otherwise the next time.
    if (given[0] >= 400) return given;
    answers.set(key, given);
    if (request.method !== 'GET') done.push(call);
    return given;
  }

  const server = createServer(async (request, response) => {
    const [status, body] = await answer(request);
    if (call(request) === 'GET /suppliers/slow') await new Promise((resolve) => setTimeout(resolve, 3_000).unref());
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    done,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const call = ({ method, url }: IncomingMessage): string => `${method} ${url}`;

function createService(seen: Map<string, number>) {
  const times = (name: string): number => {
    seen.set(name, (seen.get(name) ?? 0) + 1);
    return seen.get(name)!;
  };
  return (name: string, query: URLSearchParams, body: Record<string, unknown>): Answer => {
    if (name.startsWith('GET /jobs/')) return [200, { state: times(name) < 3 ? 'RUNNING' : 'DONE', rows: 42 }];
    switch (name) {
      case 'POST /payments':
        return [200, { paymentId: `pay-${String(body.orderId)}` }];
      case 'POST /stock/reserve':
        return body.sku === 'sold-out'
          ? [409, { error: 'sold out' }]
          : [200, { reservation: `res-${String(body.sku)}` }];
      case 'GET /customers': {
        const from = Number(query.get('after') ?? 0);
        const next = from + PAGE < CUSTOMERS.length ? from + PAGE : null;
        return [200, { items: CUSTOMERS.slice(from, from + PAGE), next }];
      }
      case 'GET /rates':
        return times(name) === 1 ? [503, { error: 'busy' }] : [200, { EUR: 1.1 }];
      case 'GET /suppliers/quick':
        return [200, { supplier: 'quick', price: 12 }];
      case 'GET /suppliers/slow':
        return [200, { supplier: 'slow', price: 10 }];
      default:
        return [200, { ok: true }];
    }
  };
}

if (import.meta.main) {
  const { url } = await openServices(Number(process.argv[2] ?? 7310));
  console.log(`The services are at ${url}`);
}

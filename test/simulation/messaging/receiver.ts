// The consumers: what arrives, what they answer, and what they say afterwards. Each consumer keeps a ledger, and complains about
// everything it must never see: other bytes, another id for the same message, a message out of order (I19).

import type { HttpClient, HttpResponse } from '../../../src/action/http-client.ts';
import type { Acknowledgements } from '../../../src/delivery/acknowledgements.ts';
import type { Tables } from '../database/tables.ts';
import type { Random } from '../random.ts';
import type { Process, World } from '../world.ts';
import { type MessagingCase, type Reply, repliesTo } from './case.ts';
import type { Watch } from './watch.ts';

export interface ReceiverDeps {
  readonly world: World;
  readonly tables: Tables;
  readonly given: MessagingCase;
  readonly random: Random;
  readonly watch: Watch;
  /** The process of the consumers, whose acknowledgements take the same way as everybody's. */
  readonly process: Process;
  readonly acknowledgements: Acknowledgements;
}

interface WorkEvent {
  readonly ackGuid: string;
  readonly kind: string;
  readonly externalRef: string;
  readonly requestId: string;
  readonly hook?: string;
}

const ASK_AGAIN_MS = 300;

export class Receivers {
  private readonly deps: ReceiverDeps;
  private readonly bodies = new Map<string, string>();
  private readonly guids = new Map<string, string>();
  /** By consumer and instance: the position of the newest message seen. */
  private readonly newest = new Map<string, number>();
  private readonly attempts = new Map<string, number>();
  /** Acknowledgements that are still to be sent. */
  unsaid = 0;

  constructor(deps: ReceiverDeps) {
    this.deps = deps;
  }

  /** The HTTP client with which a process sends. Requests and answers take time, and may be lost. */
  http(process: Process): HttpClient {
    return {
      request: ({ url, body, headers, timeoutMs }) =>
        new Promise((resolve, reject) => {
          const { world, random, given } = this.deps;
          const stormy = world.now < given.healAtMs;
          const isLost = stormy && random.chance(given.requestLoss);
          const isUnheard = stormy && random.chance(given.replyLoss);
          const [there, back] = [random.between(1, 40), random.between(1, stormy ? 600 : 40)];
          world.schedule(timeoutMs!, process, () => reject(new Error('no answer in time')));
          if (isLost) return;
          world.schedule(there, null, () => {
            const answer = this.receive(new URL(url).hostname, String(body), headers!['webhook-id']!);
            if (!isUnheard) world.schedule(back, process, () => resolve(answer));
          });
        }),
    };
  }

  private receive(consumer: string, body: string, id: string): HttpResponse {
    const event = JSON.parse(body) as WorkEvent;
    this.check(consumer, body, id, event);
    const key = `${consumer} ${id}`;
    const attempt = this.attempts.get(key) ?? 0;
    this.attempts.set(key, attempt + 1);
    const replies = this.repliesOf(consumer, event);
    return this.act(replies[Math.min(attempt, replies.length - 1)]!, consumer, id);
  }

  private act(reply: Reply, consumer: string, ackGuid: string): HttpResponse {
    const { random } = this.deps;
    switch (reply) {
      case 'processed':
        return answer(200, { stage: 'Processed' });
      case 'refuse':
        return answer(200, { stage: 'Processed', outcome: 'failed', message: 'no' });
      case 'again':
        return answer(200, { stage: 'Processed', outcome: 'failed', retryAt: this.deps.tables.clock() + 400 });
      case 'error':
        return answer(500, {});
      case 'early':
        this.say(consumer, ackGuid, 0);
        return answer(200, {});
      case 'later':
      case 'laterTwice':
        this.say(consumer, ackGuid, random.between(10, 5_000));
        if (reply === 'laterTwice') this.say(consumer, ackGuid, random.between(10, 5_000));
        return answer(200, {});
    }
  }

  /** Acknowledges the message as processed, again and again, until somebody has heard it. */
  private say(consumer: string, ackGuid: string, afterMs: number): void {
    const { process, acknowledgements, tables } = this.deps;
    this.unsaid++;
    process.timers.after(afterMs, () => {
      const row = [...tables.messaging.consumers.values()].find(({ code }) => code === consumer)!;
      const { consumerId, tenantId } = row;
      const item = {
        tenantId,
        ackGuid,
        consumerId,
        stage: 'Processed',
        outcome: 'succeeded',
        message: null,
        result: null,
        retryAt: null,
      } as const;
      acknowledgements.ack(item).then(
        () => {
          this.unsaid--;
        },
        () => {
          this.unsaid--;
          this.say(consumer, ackGuid, ASK_AGAIN_MS);
        },
      );
    });
  }

  private check(
    consumer: string,
    body: string,
    id: string,
    { ackGuid, kind, externalRef, requestId, hook }: WorkEvent,
  ): void {
    const { watch, tables } = this.deps;
    const name = JSON.stringify([kind, externalRef, requestId, hook]);
    if (ackGuid !== id) watch.violate('I19', `${name} says that it is ${ackGuid}, and comes as ${id}`);
    const known = this.bodies.get(id) ?? body;
    this.bodies.set(id, body);
    if (known !== body) watch.violate('I19', `${id} came with other bytes`);
    const guid = this.guids.get(`${consumer} ${name}`) ?? id;
    this.guids.set(`${consumer} ${name}`, guid);
    if (guid !== id) watch.violate('I19', `${name} came to ${consumer} as ${guid}, and then as ${id}`);
    const message = tables.messaging.messages.get(id);
    if (message === undefined) return watch.violate('I19', `${id} came to ${consumer}, and there is no such message`);
    const lane = `${consumer} ${message.subjectId}`;
    const isNew = !this.attempts.has(`${consumer} ${id}`);
    if (isNew && message.seq < (this.newest.get(lane) ?? 0)) {
      watch.violate('order', `${name} came to ${consumer} after one that follows it`);
    }
    if (isNew) this.newest.set(lane, message.seq);
  }

  /** Only hooks can be refused: a message about a transition leaves no choice. */
  private repliesOf(consumer: string, { kind, externalRef, requestId }: WorkEvent): readonly Reply[] {
    const { given } = this.deps;
    const instance = given.instances.find(({ number }) => `L-${number}` === externalRef)!;
    const verdict = kind === 'hook' ? instance.verdicts[Number(consumer.slice(1))]! : 'ok';
    return repliesTo(given.seed, `${consumer} ${kind} ${externalRef} ${requestId.slice(0, 6)}`, verdict);
  }
}

function answer(status: number, body: object): HttpResponse {
  const headers = { 'content-type': 'application/json' };
  return { status, headers, body: Buffer.from(JSON.stringify(body)), truncated: false, url: '' };
}

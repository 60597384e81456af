// One case of the simulation of lifecycles and deliveries, as data: instances and what their consumers will do, processes, and
// faults. How every instance must end is known when the case is drawn.

import { randomFates } from '../fault.ts';
import type { Fate } from '../network.ts';
import { createRandom, type Random } from '../random.ts';

/** What a consumer does with a message, attempt by attempt; the last reply is repeated for ever. */
export type Reply =
  /** The answer says that the message is processed. */
  | 'processed'
  /**
   * The consumer answers that it has the message, and says some time later, in a call of its own, that it is processed;
   * perhaps twice.
   */
  | 'later'
  | 'laterTwice'
  /** The consumer says that the message is processed before it answers. */
  | 'early'
  /** The consumer fails, and wants the message again soon. */
  | 'again'
  /** The answer is an error. */
  | 'error'
  /** The consumer fails for good. */
  | 'refuse';

export interface InstanceCase {
  readonly number: number;
  readonly startAtMs: number;
  readonly isSentTwice: boolean;
  /** How often the timeout of the instance fires before the instance is closed. */
  readonly reminders: number;
  /** The verdict of each consumer of the hook. */
  readonly verdicts: readonly ('ok' | 'refuse')[];
}

export type MessagingFault =
  | { readonly kind: 'crash'; readonly node: number; readonly atMs: number; readonly downMs: number }
  | { readonly kind: 'pause'; readonly node: number; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'partition'; readonly node: number; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'outage'; readonly atMs: number; readonly forMs: number }
  /** Strikes the moment a node sends this statement for the nth time. */
  | {
      readonly kind: 'trap';
      readonly node: number;
      readonly method: string;
      readonly nth: number;
      readonly strike: 'crash' | 'pause' | Fate;
    };

export interface MessagingCase {
  readonly seed: number;
  readonly nodes: number;
  readonly consumers: readonly { readonly ordering: 'delivered' | 'processed' }[];
  /** When another consumer is registered, long after the others began to work. */
  readonly lateConsumerAtMs: number | null;
  readonly instances: readonly InstanceCase[];
  readonly faults: readonly MessagingFault[];
  readonly fates: Readonly<Record<Fate, number>>;
  /** How likely a request to a consumer, or its answer, gets lost on the way. */
  readonly requestLoss: number;
  readonly replyLoss: number;
  readonly healAtMs: number;
}

export const MAX_REMINDERS = 3;

export function generateMessagingCase(seed: number): MessagingCase {
  const random = createRandom(seed).fork('messaging');
  const nodes = random.pick([1, 2, 2, 3]);
  const healAtMs = random.between(2_000, 8_000);
  const consumers = Array.from({ length: random.pick([1, 2, 2, 3]) }, () => ({
    ordering: random.pick(['delivered', 'delivered', 'processed'] as const),
  }));
  const faults = random.fork('faults');
  return {
    seed,
    nodes,
    consumers,
    lateConsumerAtMs: random.chance(0.5) ? random.between(200, healAtMs) : null,
    instances: randomInstances(random.fork('instances'), consumers.length, healAtMs),
    faults: Array.from({ length: faults.pick([0, 1, 3, 6]) }, () => randomFault(faults, nodes, healAtMs)),
    fates: randomFates(random.fork('fates')),
    requestLoss: random.pick([0, 0.1, 0.3]),
    replyLoss: random.pick([0, 0.1, 0.3]),
    healAtMs,
  };
}

function randomInstances(random: Random, consumers: number, healAtMs: number): InstanceCase[] {
  return Array.from({ length: random.pick([1, 3, 6, 12]) }, (_, number) => ({
    number,
    startAtMs: random.between(0, healAtMs * 0.7),
    isSentTwice: random.chance(0.3),
    reminders: random.pick([0, 0, 1, MAX_REMINDERS]),
    verdicts: Array.from({ length: consumers }, () => (random.chance(0.2) ? ('refuse' as const) : ('ok' as const))),
  }));
}

const TRAPPED = [
  'lifecycleApply',
  'lifecycleApply',
  'deliveryClaim',
  'deliveryClaim',
  'deliveryAck',
  'deliveryAck',
  'instanceClaimDue',
  'reactionClaim',
  'reactionSettle',
  'instanceLoad',
  'monitorLook',
];

function randomFault(random: Random, nodes: number, healAtMs: number): MessagingFault {
  const node = random.between(0, nodes - 1);
  const atMs = random.between(100, healAtMs);
  switch (random.pick(['crash', 'pause', 'partition', 'outage', 'trap', 'trap', 'trap'] as const)) {
    case 'crash':
      return { kind: 'crash', node, atMs, downMs: random.between(10, 3_000) };
    case 'pause':
      // Up to longer than the time for which a claim belongs to its node.
      return { kind: 'pause', node, atMs, forMs: random.between(500, 40_000) };
    case 'partition':
      return { kind: 'partition', node, atMs, forMs: random.between(500, 5_000) };
    case 'outage':
      return { kind: 'outage', atMs, forMs: random.between(50, 3_000) };
    case 'trap':
      return {
        kind: 'trap',
        node,
        method: random.pick(TRAPPED),
        nth: random.pick([1, 2, 3, 5, 8]),
        strike: random.pick(['crash', 'pause', 'before', 'after', 'late', 'stray'] as const),
      };
  }
}

/** What happens to the instance, in order, whatever goes wrong meanwhile. */
export function expectedEvents({ verdicts, reminders }: InstanceCase): string[] {
  const outcome = verdicts.includes('refuse') ? 'refuse' : 'pass';
  return ['submit', outcome, ...Array<string>(reminders).fill('remind'), 'close'];
}

/** What a consumer does with one message, drawn by the name of the message: the same in every run of the case. */
export function repliesTo(seed: number, name: string, verdict: 'ok' | 'refuse'): readonly Reply[] {
  const random = createRandom(seed).fork(name);
  const trouble = Array.from({ length: random.pick([0, 0, 0, 1, 2]) }, () => random.pick(['error', 'again'] as const));
  const last = verdict === 'refuse' ? 'refuse' : random.pick(['processed', 'later', 'laterTwice', 'early'] as const);
  return [...trouble, last];
}

export function describeMessagingCase(given: MessagingCase): string {
  const { instances, faults, ...rest } = given;
  return [
    JSON.stringify(rest),
    ...faults.map((fault) => `  ${JSON.stringify(fault)}`),
    ...instances.map((one) => `  ${JSON.stringify(one)}`),
  ].join('\n');
}

// Data for the contract of lifecycles and deliveries: an imported machine, consumers, moves with what they send.

import type { AckItem, AckResult, ConsumerChange, NewDelivery, NewMessageRow } from '../delivery-port.ts';
import type { InstanceKey, LifecycleImport, LifecycleMove, LoadedInstance } from '../lifecycle-port.ts';
import type { Store } from '../port.ts';
import { newId, TENANT } from './builder.testing.ts';

export const MINUTE_MS = 60_000;

export function loanMachine(overrides: Partial<LifecycleImport> = {}): LifecycleImport {
  return {
    tenantId: TENANT,
    env: 'prod',
    name: 'loan',
    checksum: 'c1',
    definition: '{"name":"loan"}',
    policies: null,
    states: [
      { ...noTimeout, name: 'draft', isInitial: true, isFinal: false },
      {
        name: 'submitted',
        isInitial: false,
        isFinal: false,
        timeoutMs: 172_800_000,
        timeoutEvent: 'remind',
        timeoutMode: 'repeat',
        timeoutMax: 3,
        timeoutIntervalMs: 5_000_000_000,
      },
      { ...noTimeout, name: 'approved', isInitial: false, isFinal: true },
    ],
    events: ['submit', 'remind', 'approve'].map((name, index) => ({ name, eventId: newId(), code: 1000 + index })),
    transitions: [
      { fromState: 'draft', event: 'submit', toState: 'submitted', reenter: false },
      { fromState: 'submitted', event: 'remind', toState: 'submitted', reenter: false },
      { fromState: 'submitted', event: 'approve', toState: 'approved', reenter: false },
    ],
    policyRows: [
      { name: 'check', ordinal: 0, on: '{"transition":{"event":"submit"}}', condition: 'payload.amount > 1' },
    ],
    routes: [
      {
        policy: 'check',
        ordinal: 0,
        hook: 'verify',
        workflow: null,
        consumers: ['kyc', 'audit'],
        onSucceeded: 'approve',
        onFailed: null,
      },
      { policy: 'check', ordinal: 1, hook: null, workflow: 'notify', consumers: [], onSucceeded: null, onFailed: null },
    ],
    ...overrides,
  };
}

const noTimeout = {
  timeoutMs: null,
  timeoutEvent: null,
  timeoutMode: null,
  timeoutMax: null,
  timeoutIntervalMs: null,
} as const;

export const loanKey = (externalRef: string): InstanceKey => ({
  tenantId: TENANT,
  env: 'prod',
  definition: 'loan',
  externalRef,
});

export function newMove(externalRef: string, overrides: Partial<LifecycleMove> = {}): LifecycleMove {
  return {
    ...loanKey(externalRef),
    instanceId: newId(),
    version: 1,
    revision: 0,
    event: 'submit',
    fromState: 'draft',
    toState: 'submitted',
    at: 1_000,
    stateSince: 1_000,
    timeoutsFired: 0,
    dueAt: null,
    requestId: 'r1',
    actor: null,
    payload: null,
    cause: '{"type":"trigger"}',
    ...overrides,
  };
}

/** The move after this one. */
export function nextMove(move: LifecycleMove, overrides: Partial<LifecycleMove> = {}): LifecycleMove {
  const revision = move.revision + 1;
  return {
    ...move,
    revision,
    event: 'approve',
    fromState: move.toState,
    toState: 'approved',
    requestId: `r${revision + 1}`,
    ...overrides,
  };
}

export function newMessageRow(subjectId: string, overrides: Partial<NewMessageRow> = {}): NewMessageRow {
  return {
    ackGuid: newId(),
    tenantId: TENANT,
    kind: 'transition',
    subjectId,
    seq: 1,
    env: 'prod',
    source: 'loan',
    event: 'submit',
    body: '{"kind":"transition"}',
    onSucceeded: null,
    onFailed: null,
    consumers: 1,
    ...overrides,
  };
}

export const deliveryOf = ({ ackGuid, subjectId, seq }: NewMessageRow, consumerId: string): NewDelivery => ({
  ackGuid,
  consumerId,
  subjectId,
  seq,
});

export async function newConsumer(
  store: Store,
  code: string,
  overrides: Partial<ConsumerChange> = {},
): Promise<string> {
  const { consumerId } = await store.consumerPut({ tenantId: TENANT, code, kind: 'pull', ...overrides });
  return consumerId;
}

export interface Sending {
  moves: LifecycleMove[];
  messages?: NewMessageRow[];
  deliveries?: NewDelivery[];
  reactionsSettled?: string[];
}

/** With the current generation. */
export async function apply(store: Store, { moves, messages = [], deliveries = [], reactionsSettled = [] }: Sending) {
  const generation = await store.lifecycleGeneration();
  return store.lifecycleApply({ generation, moves, messages, deliveries, reactionsSettled });
}

/** A machine, and a submitted instance with a message to each of these consumers. */
export async function submitted(
  store: Store,
  consumerIds: readonly string[],
  options: { messages?: number; message?: Partial<NewMessageRow>; externalRef?: string } = {},
): Promise<{ move: LifecycleMove; messages: NewMessageRow[] }> {
  await store.lifecycleImport(loanMachine());
  const move = newMove(options.externalRef ?? 'L-1');
  const messages = Array.from({ length: options.messages ?? 1 }, (_, index) =>
    newMessageRow(move.instanceId, { seq: 256 + index, consumers: consumerIds.length, ...options.message }),
  );
  const deliveries = messages.flatMap((message) => consumerIds.map((id) => deliveryOf(message, id)));
  await apply(store, { moves: [move], messages, deliveries });
  return { move, messages };
}

export function claimDeliveries(
  store: Store,
  consumerId: string,
  overrides: Partial<Parameters<Store['deliveryClaim']>[0]> = {},
) {
  return store.deliveryClaim({
    consumerId,
    ordering: 'delivered',
    limit: 10,
    resendMs: [MINUTE_MS],
    remindMs: [MINUTE_MS],
    maxAttempts: null,
    ...overrides,
  });
}

export async function claimedGuids(
  store: Store,
  consumerId: string,
  overrides: Partial<Parameters<Store['deliveryClaim']>[0]> = {},
): Promise<string[]> {
  return (await claimDeliveries(store, consumerId, overrides)).claimed.map(({ ackGuid }) => ackGuid);
}

export const newAck = (ackGuid: string, consumerId: string, overrides: Partial<AckItem> = {}): AckItem => ({
  tenantId: TENANT,
  ackGuid,
  consumerId,
  stage: 'Processed',
  outcome: 'succeeded',
  message: null,
  result: null,
  retryAt: null,
  ...overrides,
});

export async function ack(
  store: Store,
  ackGuid: string,
  consumerId: string,
  overrides: Partial<AckItem> = {},
): Promise<AckResult> {
  const [result] = await store.deliveryAck({
    acks: [newAck(ackGuid, consumerId, overrides)],
    remindMs: [MINUTE_MS],
  });
  return result!;
}

export async function instanceOf(
  store: Store,
  externalRef: string,
  requestId: string | null = null,
): Promise<LoadedInstance | null> {
  const [loaded] = await store.instanceLoad({ keys: [{ ...loanKey(externalRef), requestId }] });
  return loaded!;
}

// Messages, deliveries and consumers. Looking never claims: the list always has a stage, because a consumer's list without one
// hands out its messages.

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { DeliveryJson } from '../../../src/protocol/delivery.ts';
import { pawl } from './client.ts';

const EVERY_MS = 5_000;

export type Delivery = DeliveryJson;

export const STAGES = ['Pending', 'Delivered', 'Processed', 'Failed', 'Dead'] as const;
export type Stage = DeliveryJson['stage'] | 'any';

export function useDeliveries(stage: Stage, consumer: string | undefined) {
  return useInfiniteQuery({
    queryKey: ['messages', stage, consumer ?? ''],
    queryFn: ({ pageParam }) =>
      pawl.deliveries.list({
        stage,
        order: 'desc',
        limit: 50,
        ...(consumer === undefined ? {} : { consumer }),
        ...(pageParam === undefined ? {} : { cursor: pageParam }),
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  });
}

export function useMessage(ackGuid: string) {
  return useQuery({
    queryKey: ['message', ackGuid],
    queryFn: () => pawl.deliveries.get(ackGuid),
    refetchInterval: EVERY_MS,
  });
}

const AT_ONCE = 100;

/** Every delivery of these messages, in the order of the messages. */
export function useDeliveriesOf(ackGuids: readonly string[]) {
  return useQuery({
    queryKey: ['messages', 'of', ackGuids],
    queryFn: async (): Promise<DeliveryJson[]> => {
      const found: DeliveryJson[] = [];
      for (let from = 0; from < ackGuids.length; from += AT_ONCE) {
        const some = ackGuids.slice(from, from + AT_ONCE);
        for (let cursor: string | undefined; ; ) {
          const query = {
            stage: 'any',
            ackGuids: some,
            limit: 200,
            ...(cursor === undefined ? {} : { cursor }),
          } as const;
          const page = await pawl.deliveries.list(query);
          found.push(...page.data);
          if (page.nextCursor === undefined) break;
          cursor = page.nextCursor;
        }
      }
      return found;
    },
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  });
}

export const requeueMessage = (ackGuid: string, consumer?: string) =>
  pawl.deliveries.requeue(ackGuid, consumer === undefined ? {} : { consumer });
export const discardMessage = (ackGuid: string) => pawl.deliveries.discard(ackGuid);

export function useConsumers() {
  return useQuery({
    queryKey: ['consumers'],
    queryFn: async () => (await pawl.consumers.list({ limit: 200 })).data,
    refetchInterval: EVERY_MS,
  });
}

export function useConsumer(code: string) {
  return useQuery({ queryKey: ['consumer', code], queryFn: () => pawl.consumers.get(code), refetchInterval: EVERY_MS });
}

export function useNotices() {
  return useQuery({
    queryKey: ['notices'],
    queryFn: async () => (await pawl.deliveries.notices({ limit: 50 })).data,
    refetchInterval: EVERY_MS,
  });
}

export const pauseConsumer = (code: string, isPaused: boolean) =>
  isPaused ? pawl.consumers.pause(code) : pawl.consumers.resume(code);
export const rotateConsumerSecret = (code: string) => pawl.consumers.rotateSecret(code);
export const replayConsumer = (code: string, from: Date) => pawl.consumers.replay(code, { from });

// Triggers: lists, one with its firings, and what may be done with it.

import { useQuery } from '@tanstack/react-query';
import type { BackfillAnswerJson, TriggerJson } from '../../../src/protocol/answer.ts';
import type { TriggerListQuery } from '../../../src/sdk/triggers.ts';
import { pawl } from './client.ts';

export type Trigger = TriggerJson;

const MANY = 200;
const EVERY_MS = 15_000;

export function useTriggers(filter: TriggerListQuery = {}) {
  return useQuery({
    queryKey: ['triggers', filter],
    queryFn: async () => (await pawl.triggers.list({ ...filter, limit: MANY })).data,
    refetchInterval: EVERY_MS,
  });
}

export function useTrigger(id: string) {
  return useQuery({
    queryKey: ['trigger', id],
    queryFn: () => pawl.triggers.get(id),
    refetchInterval: EVERY_MS,
  });
}

export function useFirings(id: string) {
  return useQuery({
    queryKey: ['trigger', id, 'firings'],
    queryFn: async () => (await pawl.triggers.firings(id, { limit: 100 })).data,
    refetchInterval: EVERY_MS,
  });
}

export const createTrigger = pawl.triggers.create.bind(pawl.triggers);
export const updateTrigger = pawl.triggers.update.bind(pawl.triggers);
export const deleteTrigger = (id: string) => pawl.triggers.delete(id);
export const fireTrigger = (id: string, payload: unknown, key: string) =>
  pawl.triggers.fire(id, payload as never, { idempotencyKey: key });
export const rotateTriggerSecret = (id: string) => pawl.triggers.rotateSecret(id);

/** All slots of the range: one request sees to some of them and says where the rest begins. */
export async function backfillTrigger(
  id: string,
  { from, until }: { readonly from: string; readonly until: string },
): Promise<{ readonly started: number; readonly repeated: number }> {
  let next: string | undefined = from;
  let [started, repeated] = [0, 0];
  while (next !== undefined) {
    const answer: BackfillAnswerJson = await pawl.triggers.backfill(id, { from: next, until });
    started += answer.started;
    repeated += answer.repeated;
    next = answer.nextFrom;
  }
  return { started, repeated };
}

// Stages of deliveries as the database numbers them, and where an acknowledgement takes one.

import type { AckItem, DeliveryStage } from '../../delivery-port.ts';

const STAGES = ['Pending', 'Delivered', 'Processed', 'Failed', 'Dead'] as const satisfies readonly DeliveryStage[];

export const stageName = (stage: number): DeliveryStage => STAGES[stage]!;
export const stageNumber = (stage: DeliveryStage): number => STAGES.indexOf(stage);

/** A failure with a time is tried again then; one without is final. */
export function ackedStage({ stage, outcome, retryAt }: AckItem): number {
  if (outcome === 'failed') return stageNumber(retryAt === null ? 'Dead' : 'Failed');
  return stageNumber(stage);
}

/** The stages in which an older delivery holds back the next of its subject. */
export const blockingStages = (ordering: 'delivered' | 'processed'): number[] =>
  ordering === 'delivered' ? [0, 3] : [0, 1, 3];

// In words: what a node that waits is waiting for, and what became of the work of an execution that was undone.

import type { Step } from '../../../src/core/plan/plan.ts';

export function waitText(step: Step | undefined): string {
  switch (step?.kind) {
    case 'webhook':
      return 'waits for its callback';
    case 'wait': {
      const events = [...new Set(step.events.map(({ type }) => type))].join(' or ');
      const arrivals = step.count > 1 ? `${step.count} × ` : '';
      if (events === '') return 'waits for its callback';
      return `waits for ${step.callback ? 'its callback or ' : ''}${arrivals}the event ${events}`;
    }
    case 'subworkflow':
      return 'waits for the execution that it started';
    case 'forEach':
      return 'works through its items';
    case 'repeat':
      return 'rests until its next round';
    default:
      return 'waits';
  }
}

/** True of a wait that somebody may continue by hand. */
export const isCallback = (step: Step | undefined): boolean =>
  step?.kind === 'webhook' || (step?.kind === 'wait' && step.callback);

export interface Undone {
  readonly tone: 'ok' | 'bad';
  readonly text: string;
}

/** How undoing and `finally` went, of an execution that had some. */
export function undoneText(
  compensation: { readonly nodes: readonly { readonly nodeId: string; readonly status: string }[] } | undefined,
): Undone | null {
  const ran = (compensation?.nodes ?? []).filter(({ status }) => status !== 'Pending' && status !== 'Skipped');
  if (ran.length === 0) return null;
  const bad = ran.filter(({ status }) => status !== 'Succeeded');
  const names = (list: typeof ran) => list.map(({ nodeId }) => nodeId).join(', ');
  return bad.length === 0
    ? { tone: 'ok', text: `Cleaned up afterwards: ${names(ran)}.` }
    : { tone: 'bad', text: `Cleaning up failed: ${names(bad)}. Retry these nodes, or undo their work by hand.` };
}

// Texts for the command line and the dashboard: the reason a node waits, the progress of a loop, the node that a compensation
// undoes, and the outcome of undoing.

import type { Plan, Step } from '../core/plan/plan.ts';
import type { GraphJson } from './execution.ts';

type Node = GraphJson['nodes'][number];

/** The reason that a waiting node waits. */
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

const FALSE_CONDITION = 'condition false: ';

/** The reason of a skip in words. The API keeps the short form. */
export function skipText(reason: string): string {
  if (reason.startsWith(FALSE_CONDITION)) {
    return `not run: its condition was false: ${reason.slice(FALSE_CONDITION.length)}`;
  }
  return reason === 'no satisfied edge' ? 'not run: no edge led here' : `not run: ${reason}`;
}

/** Whether somebody may continue the wait by hand. */
export const isCallback = (step: Step | undefined): boolean =>
  step?.kind === 'webhook' || (step?.kind === 'wait' && step.callback);

/** The reason for nodes without edges, by index: the node that they undo, or `finally`. */
export function asideOf({ nodes, finally: last = [] }: Plan): ReadonlyMap<number, Pick<Node, 'undoes' | 'isFinally'>> {
  const undoing = nodes.flatMap(({ id, compensate }) =>
    compensate === undefined ? [] : [[compensate, { undoes: id }] as const],
  );
  return new Map<number, Pick<Node, 'undoes' | 'isFinally'>>([
    ...undoing,
    ...last.map((index) => [index, { isFinally: true }] as const),
  ]);
}

/** The progress of a loop, and the reason for a node without edges; empty for an ordinary node. */
export function progressTexts({ items, rounds, undoes, isFinally, status }: Node): string[] {
  const texts: string[] = [];
  if (undoes !== undefined) texts.push(`undoes ${undoes}`);
  if (isFinally) texts.push('finally');
  if (status === 'Pending') return texts;
  if (items !== undefined) {
    const { count, succeeded, failed, running } = items;
    const others = [failed > 0 ? `, ${failed} failed` : '', running.length > 0 ? `, ${running.length} running` : ''];
    texts.push(`${succeeded} of ${count} done${others.join('')}`);
  }
  if (rounds !== undefined && rounds > 0) texts.push(`round ${rounds}`);
  return texts;
}

export interface Undone {
  readonly tone: 'ok' | 'bad';
  readonly text: string;
}

/** How compensations and `finally` went. */
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

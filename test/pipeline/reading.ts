// An independent model of pipelines, without a line of the engine, that gives the result of every task. Nothing runs here: each
// task carries its meaning beside its definition.

import type { Json } from '../../src/core/json/json.ts';

/** What conditions and templates see of an ended task. */
export interface View {
  readonly status: string;
  readonly status_code: number | null;
  readonly body: Json;
  readonly truncated?: boolean;
}

export interface Meaning {
  readonly needs: readonly string[];
  /** null: the task has no `if`. */
  readonly holds: ((view: (name: string) => View) => boolean) | null;
  /** The result of the task when it runs. Throws a Refusal when a template cannot be resolved. */
  readonly run: (view: (name: string) => View) => View;
}

export interface Outcome {
  readonly view: View;
  readonly message?: string;
}

/** The message of a template error. */
export class Refusal extends Error {}

const NOTHING = { status_code: null, body: null };
const SKIPPED: Outcome = { view: { status: 'skipped', ...NOTHING } };

/** Every task must come after the tasks that it needs. */
export function readPipeline(tasks: ReadonlyMap<string, Meaning>): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>();
  const view = (name: string): View => outcomes.get(name)!.view;
  for (const [name, { needs, holds, run }] of tasks) {
    const isAdmitted = holds === null ? needs.every((need) => hasSucceeded(view(need))) : holds(view);
    outcomes.set(name, isAdmitted ? outcomeOf(() => run(view)) : SKIPPED);
  }
  return outcomes;
}

export function hasSucceeded({ status }: View): boolean {
  return status === 'success' || status === 'received';
}

/** The status that the API shows: a received webhook is a success. */
export function shownStatus({ status }: View): string {
  return status === 'received' ? 'success' : status;
}

function outcomeOf(run: () => View): Outcome {
  try {
    return { view: run() };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { view: { status: 'template_error', ...NOTHING }, message: error.message };
  }
}

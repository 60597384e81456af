// Renders a template in a node's scope. A failure is a value, never an exception.

import type { Json } from '../json/json.ts';
import { renderTemplate, type TemplateError } from '../template/render.ts';
import type { Template } from '../template/template.ts';
import { toIso } from '../time/iso-time.ts';
import { whyAbsent } from './absence.ts';
import type { Deciding } from './deciding.ts';
import { nodeAt, scopeAt } from './frame.ts';

export function render(deciding: Deciding, index: number, template: Template | null): Json | TemplateError {
  if (template === null) return {};
  const { state, context, spend } = deciding;
  tellAttempt(deciding, index);
  const options = { spend, style: context.templateStyle, why: whyAbsent(state) };
  const work = () => renderTemplate(template, scopeAt(state, index), context.limits, options);
  try {
    return context.measure === undefined ? work() : context.measure('template', work);
  } catch (error) {
    return error as TemplateError;
  }
}

/** Sets `attempt` in the scope of a graph's templates. One object for all, set before each rendering. */
export function tellAttempt({ state, now }: Deciding, index: number): void {
  if (!state.plan.readsAttempt) return;
  const attempt = state.scope.attempt as { number: number; startedAt: string | null };
  const { attempts, attemptBase } = nodeAt(state, index)!;
  attempt.number = attempts - attemptBase + 1;
  attempt.startedAt = toIso(now);
}

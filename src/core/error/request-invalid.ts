// The one refusal of an invalid request: the message gives the first problem, the details give the others. A request can have as
// many problems as keys, so the answer is capped (S4).

import type { Problem } from '../problem/problem.ts';
import { ProblemList } from '../problem/problem-list.ts';
import { PawlError } from './pawl-error.ts';

const MAX_DETAILS = 100;

/** For callers that find problems one by one, and may find more than are reported. */
export const requestProblems = (): ProblemList => new ProblemList(MAX_DETAILS);

export function requestInvalid(found: ProblemList | readonly Problem[]): PawlError {
  const problems = found instanceof ProblemList ? found : listOf(found);
  const details = problems.all();
  const { path, message } = details[0]!;
  const others = problems.count > 1 ? ` (and ${problems.count - 1} more)` : '';
  return new PawlError('REQUEST_INVALID', `${path} ${message}${others}`.trim(), details);
}

function listOf(found: readonly Problem[]): ProblemList {
  const problems = requestProblems();
  for (const problem of found) problems.add(() => problem);
  return problems;
}

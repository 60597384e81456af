// Commands on an execution. The server accepts a command before the engine acts on it, so each command then looks for the
// recorded fact.

import { pawl } from './client.ts';
import { lookForNews } from './journal.ts';

async function accepted<Answer>(id: string, answer: Promise<Answer>): Promise<Answer> {
  const given = await answer;
  // A failed look is not a failed command: the live rows bring the news a little later.
  void lookForNews(id).catch(() => undefined);
  return given;
}

type Signal = Parameters<typeof pawl.executions.signal>[1];

export const retryExecution = (id: string) => accepted(id, pawl.executions.retry(id));
export const cancelExecution = (id: string, reason: string) =>
  accepted(id, pawl.executions.cancel(id, reason === '' ? {} : { reason }));
export const signalExecution = (id: string, signal: Signal) => accepted(id, pawl.executions.signal(id, signal));
export const continueWait = (id: string, nodeId: string, payload: unknown) =>
  accepted(id, pawl.executions.continueWait(id, nodeId, payload));

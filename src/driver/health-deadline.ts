// A health check with a deadline: an engine that hangs counts as unreachable.

import { EngineUnavailableError } from './driver.ts';

/** Less than the deadline of the whole health check. */
const HEALTH_MS = 3_000;

/** `engine`: its name and address, for people. */
export async function answeredInTime<Answer>(engine: string, answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const error = new EngineUnavailableError(`${engine} does not answer within ${HEALTH_MS / 1_000} seconds`);
    timer = setTimeout(() => reject(error), HEALTH_MS);
  });
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

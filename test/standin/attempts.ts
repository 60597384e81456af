// Runs actions of a connector against a stand-in, attempt by attempt, as a runner would.

import type { ActionDefinition } from '../../src/action/action.ts';
import { runAction } from '../../src/action/attempt.testing.ts';
import type { AttemptContext } from '../../src/action/attempt-scope.ts';
import { createHttpClient } from '../../src/action/http/client.ts';
import type { AttemptResult } from '../../src/action/invoke.ts';
import type { Json } from '../../src/core/json/json.ts';

export interface Attempts {
  run(type: string, parameters: Json, context?: Partial<AttemptContext>): Promise<AttemptResult>;
  close(): Promise<void>;
}

export function attemptsOf(actions: readonly ActionDefinition[], tokens: Readonly<Record<string, string>>): Attempts {
  const http = createHttpClient({ allowLoopback: true });
  return {
    run(type, parameters, context = {}) {
      const action = actions.find((candidate) => candidate.type === type);
      if (action === undefined) throw new Error(`there is no ${type}`);
      return runAction(action, parameters, {
        context: { http, credentials: { token: (connector) => tokens[connector] }, ...context },
      });
    },
    close: () => http.close(),
  };
}

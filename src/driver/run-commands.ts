// What an engine asks of our store on behalf of a run: the store hears of everything first.

import type { Signal, SignalOutcome } from './driver.ts';

export interface RunCommands {
  cancel(executionId: string, reason?: string): Promise<void>;
  signal(executionId: string, signal: Signal): Promise<SignalOutcome>;
}

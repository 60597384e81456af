// The calls that an engine makes to our store on behalf of a run. Every change is stored before the engine acts on it.

import type { Signal, SignalOutcome } from './driver.ts';

export interface RunCommands {
  cancel(executionId: string, reason?: string): Promise<void>;
  signal(executionId: string, signal: Signal): Promise<SignalOutcome>;
}

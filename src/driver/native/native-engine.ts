// The native engine behind the boundary: PostgreSQL holds the queue, and runners claim from it. Accepting an execution already
// hands it over.

import type { Problem } from '../../core/problem/problem.ts';
import { type EngineRunRef, nativeRef } from '../../protocol/driver.ts';
import type { ExecutionReader } from '../../store/reader-port.ts';
import type { EngineHealth, RunContext, RunStatusSnapshot, Signal, SignalOutcome, WorkflowEngine } from '../driver.ts';
import type { RunCommands } from '../run-commands.ts';

export interface NativeEngineDeps {
  readonly store: Pick<ExecutionReader, 'executionGet'> & {
    runnerList(): Promise<{ state: string; hasLease: boolean; owned: number }[]>;
  };
  readonly commands: RunCommands;
}

export class NativeEngine implements WorkflowEngine {
  readonly provider = 'native';
  private readonly deps: NativeEngineDeps;

  constructor(deps: NativeEngineDeps) {
    this.deps = deps;
  }

  validate(): Problem[] {
    return [];
  }

  async startRun(_plan: unknown, { tenantId, runId }: RunContext): Promise<EngineRunRef> {
    return nativeRef(tenantId, runId);
  }

  cancelRun(ref: EngineRunRef, { reason }: { reason?: string }): Promise<void> {
    return this.deps.commands.cancel(ref.workflowId, reason);
  }

  async getRunStatus(ref: EngineRunRef): Promise<RunStatusSnapshot> {
    const tenantId = ref.provider === 'native' ? ref.namespace : '';
    const view = await this.deps.store.executionGet({ tenantId, executionId: ref.workflowId });
    if (view === null) return { state: 'absent', providerStatus: 'absent' };
    return { state: view.endedAt === null ? 'running' : 'ended', providerStatus: view.status };
  }

  signal(ref: EngineRunRef, signal: Signal): Promise<SignalOutcome> {
    return this.deps.commands.signal(ref.workflowId, signal);
  }

  async health(): Promise<EngineHealth> {
    const live = (await this.deps.store.runnerList()).filter(({ state, hasLease }) => state === 'live' && hasLease);
    const owned = live.reduce((sum, runner) => sum + runner.owned, 0);
    const numbers = { liveRunners: live.length, owned };
    return live.length > 0
      ? { status: 'healthy', numbers }
      : { status: 'degraded', numbers, detail: 'no runner is live; start one with: pawl serve' };
  }
}

// A tool: its name, its description for a model, the scope it needs, and its API calls.

import type { Scope } from '../protocol/scope.ts';
import type { PawlClient } from '../sdk/client.ts';

export type Progress = (done: number, total: number, message: string) => Promise<void>;

export interface ToolContext {
  /** Aborted when the client has gone or cancelled the call. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

export type Arguments = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly scope: Scope;
  readonly inputSchema: object;
  call(client: PawlClient, given: Arguments, context: ToolContext): Promise<unknown>;
}

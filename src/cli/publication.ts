// Publishes a definition on a server, and explains a refusal.

import type { Json } from '../core/json/json.ts';
import type { Format } from '../core/plan/plan.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { GraphDefinition, PawlClient } from '../sdk/client.ts';
import { PawlApiError } from '../sdk/client.ts';

export interface Definition {
  readonly id: string;
  readonly format: Format;
  readonly json: Json;
}

export interface Published {
  readonly workflowId: string;
  readonly version: number;
  readonly status: string;
  readonly warnings?: readonly Problem[];
}

export function publishTo(server: PawlClient, { json }: Definition, activate = true): Promise<Published> {
  const published = server.workflows.publish(json as unknown as GraphDefinition, { autoActivate: activate });
  return published as Promise<Published>;
}

/** The problems of a definition, if they are the reason of the refusal. */
export function refusedProblems(error: unknown): { error: PawlApiError; problems: Problem[] } | null {
  if (!(error instanceof PawlApiError) || !Array.isArray(error.details)) return null;
  return { error, problems: error.details as Problem[] };
}

// Makes a definition live on a server: a graph or an execution plan becomes a draft, which is published; a pipeline is
// created or replaced.

import type { Json } from '../core/json/json.ts';
import type { Format } from '../core/plan/plan.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { GraphDefinition, PawlClient, PipelineDefinition } from '../sdk/client.ts';
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

export function publishTo(server: PawlClient, definition: Definition, activate = true): Promise<Published> {
  return definition.format === 'pipeline'
    ? putPipeline(server, definition)
    : publishDraft(server, definition, activate);
}

async function publishDraft(
  { workflows }: PawlClient,
  { id, json }: Definition,
  activate: boolean,
): Promise<Published> {
  const save = () => workflows.create(json as unknown as GraphDefinition);
  await save().catch(async (error: unknown) => {
    if (!isRefusal(error, 'WORKFLOW_IMMUTABLE')) throw error;
    await workflows.openDraft(id);
    await save();
  });
  return (await workflows.publish(id, { autoActivate: activate })) as Published;
}

async function putPipeline({ workflows }: PawlClient, { id, json }: Definition): Promise<Published> {
  const pipeline = json as unknown as PipelineDefinition;
  const { version, enabled } = await workflows.update(id, pipeline).catch((error: unknown) => {
    if (!isRefusal(error, 'WORKFLOW_NOT_FOUND')) throw error;
    return workflows.create(pipeline);
  });
  return { workflowId: id, version: version!, status: enabled ? 'Active' : 'Disabled' };
}

const isRefusal = (error: unknown, code: string): boolean => error instanceof PawlApiError && error.code === code;

/** The problems of a definition, when they are why the server refused it. */
export function refusedProblems(error: unknown): { error: PawlApiError; problems: Problem[] } | null {
  if (!(error instanceof PawlApiError) || !Array.isArray(error.details)) return null;
  return { error, problems: error.details as Problem[] };
}

// Creates missing namespaces and search attributes, and reports them.

import type { Connection } from '@temporalio/client';
import type { TemporalConnections } from './temporal-connection.ts';
import type { SetupReport } from './temporal-options.ts';
import { temporalProblem } from './temporal-problem.ts';

export const SEARCH_ATTRIBUTES = [
  'tenantId',
  'projectId',
  'environmentId',
  'runId',
  'repoSha',
  'planId',
  'planVersion',
] as const;

const ALREADY_EXISTS = 6;
const DAY_S = 86_400;
const KEYWORD = 2;
/** A new namespace takes a few seconds to reach all parts of the server. */
const TRIES = 60;
const PAUSE_MS = 500;

export async function setUpNamespace(
  connections: TemporalConnections,
  { namespace, retentionDays, address }: { namespace: string; retentionDays: number; address: string },
): Promise<SetupReport> {
  try {
    const connection = await connections.forClient();
    const created = await createNamespace(connection, namespace, retentionDays);
    const added = await patiently(created, () => addSearchAttributes(connection, namespace));
    return { namespace, created, retentionDays, addedSearchAttributes: added };
  } catch (error) {
    throw temporalProblem(error, { address, namespace });
  }
}

async function createNamespace(connection: Connection, namespace: string, retentionDays: number): Promise<boolean> {
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      description: 'Executions of Pawl',
      workflowExecutionRetentionPeriod: { seconds: (retentionDays * DAY_S) as unknown as never },
    });
    return true;
  } catch (error) {
    if ((error as { code?: number }).code === ALREADY_EXISTS) return false;
    throw error;
  }
}

async function addSearchAttributes(connection: Connection, namespace: string): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = SEARCH_ATTRIBUTES.filter((name) => !Object.hasOwn(customAttributes ?? {}, name));
  if (missing.length === 0) return [];
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  return missing;
}

async function patiently<Result>(isNew: boolean, work: () => Promise<Result>): Promise<Result> {
  for (let left = isNew ? TRIES : 0; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

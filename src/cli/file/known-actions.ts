// The action types known without a database: built-in ones, and your own from a folder.

import schemas from '../../../schemas/action-schemas.json' with { type: 'json' };
import builtIn from '../../../schemas/actions.json' with { type: 'json' };
import type { Json } from '../../core/json/json.ts';
import { nearMiss } from '../../core/problem/near-miss.ts';
import type { Problem } from '../../core/problem/problem.ts';
import { ParameterCheck } from '../../workflow/parameter-check.ts';
import { actionUses, outputFields } from '../../workflow/workflow-check.ts';
import { offerOwnModules } from './action-imports.ts';

const connectorOf = (type: string): string => type.slice(0, Math.max(0, type.indexOf('.')));

export const builtInActions: ReadonlySet<string> = new Set(builtIn);

const known = new Map(Object.entries(schemas as Record<string, { parameters: Json; outputs: Json }>));

export const builtInOutputs = outputFields([...known].map(([type, { outputs }]) => [type, outputs]));

/** Of the actions that come with Pawl: what is certainly wrong with the parameters that a definition writes out. */
export function parameterWarnings(definition: Json): Problem[] {
  const check = new ParameterCheck();
  return actionUses(definition).flatMap(({ type, parameters = {}, parametersAt }) => {
    const schema = known.get(type)?.parameters;
    if (schema === undefined || parametersAt === null) return [];
    const found = check.problems(JSON.stringify(schema), parameters, parametersAt);
    return found.map((problem) => ({ ...problem, severity: 'warning' as const }));
  });
}

/**
 * Whether a server may have this unknown action: its connector is unknown too. A connector that resembles a known one is a
 * typing mistake.
 */
export function mayBeElsewhere(type: string, actions: ReadonlySet<string>): boolean {
  const connectors = new Set([...actions].map(connectorOf));
  const connector = connectorOf(type);
  return !connectors.has(connector) && nearMiss(connector, connectors) === undefined;
}

/** The built-in ones and those of a folder (`--actions`). */
export async function actionsWith(folder: string | undefined): Promise<ReadonlySet<string>> {
  if (folder === undefined) return builtInActions;
  const { loadUserActions } = await import('../../main.ts');
  offerOwnModules();
  const own = await loadUserActions(folder);
  return new Set([...builtIn, ...own.map(({ type }) => type)]);
}

// The action types known without a database: built-in ones, and your own from a folder.

import builtIn from '../../../schemas/actions.json' with { type: 'json' };
import { nearMiss } from '../../core/problem/near-miss.ts';
import { offerOwnModules } from './action-imports.ts';

const connectorOf = (type: string): string => type.slice(0, Math.max(0, type.indexOf('.')));

export const builtInActions: ReadonlySet<string> = new Set(builtIn);

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

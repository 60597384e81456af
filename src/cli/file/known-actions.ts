// Action types, as far as a check without a database can know them: those that come with Pawl, and your own from a folder. A
// type of a connector of theirs must be one of its actions, and a connector that is nearly one of them is a slip of the keyboard; of other
// connectors nothing is known, so nothing is said.

import builtIn from '../../../schemas/actions.json' with { type: 'json' };
import { nearMiss } from '../../core/problem/near-miss.ts';
import { offerOwnModules } from './action-imports.ts';

class KnownActions extends Set<string> {
  private readonly connectors: ReadonlySet<string>;

  constructor(types: readonly string[]) {
    super(types);
    this.connectors = new Set(types.map(connectorOf));
  }

  override has(type: string): boolean {
    const connector = connectorOf(type);
    const isKnown = this.connectors.has(connector) || nearMiss(connector, this.connectors) !== undefined;
    return super.has(type) || !isKnown;
  }
}

const connectorOf = (type: string): string => type.slice(0, Math.max(0, type.indexOf('.')));

export const builtInActions: ReadonlySet<string> = new KnownActions(builtIn);

/** The built-in ones and those of a folder (`--actions`). */
export async function actionsWith(folder: string | undefined): Promise<ReadonlySet<string>> {
  if (folder === undefined) return builtInActions;
  const { loadUserActions } = await import('../../main.ts');
  offerOwnModules();
  const own = await loadUserActions(folder);
  return new KnownActions([...builtIn, ...own.map(({ type }) => type)]);
}

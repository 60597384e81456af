// Action types, as far as a check without a database can know them: those that come with Pawl, and your own from a folder. A
// type of a connector of theirs must be one of its actions; of other connectors nothing is known, so nothing is said.

import builtIn from '../../../schemas/actions.json' with { type: 'json' };
import { offerOwnModules } from './action-imports.ts';

class KnownActions extends Set<string> {
  private readonly connectors: ReadonlySet<string>;

  constructor(types: readonly string[]) {
    super(types);
    this.connectors = new Set(types.map(connectorOf));
  }

  override has(type: string): boolean {
    return super.has(type) || !this.connectors.has(connectorOf(type));
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

// The built-in actions, as far as a check without a database and without your own actions can know them: a type of a
// connector that comes with Pawl must be one of its actions; of other connectors nothing is known, so nothing is said.

import builtIn from '../../schemas/actions.json' with { type: 'json' };

class KnownActions extends Set<string> {
  override has(type: string): boolean {
    return super.has(type) || !CONNECTORS.has(connectorOf(type));
  }
}

const connectorOf = (type: string): string => type.slice(0, Math.max(0, type.indexOf('.')));
const CONNECTORS = new Set(builtIn.map(connectorOf));

export const knownActions: ReadonlySet<string> = new KnownActions(builtIn);

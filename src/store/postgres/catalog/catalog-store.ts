// The catalog: reading it, and what an operator changes in it.

import type { ActionEntry, ActionNotice, CatalogStore, ConnectorEntry } from '../../catalog-port.ts';
import type { Database } from '../database.ts';
import { patternOf } from '../like-pattern.ts';
import { statement } from '../statement.ts';

const LIST_CONNECTORS = statement('connector_list');
const UPDATE_CONNECTOR = statement('connector_update');
const LIST_ACTIONS = statement('action_list');
const NOTICED = statement('actions_noticed');
const UPDATE_ACTION = statement('action_update');

export function catalogStore(database: Database): CatalogStore {
  return {
    connectorList: async () => await database.run<ConnectorEntry>(LIST_CONNECTORS, [null]),
    async connectorGet({ id }) {
      const [row] = await database.run<ConnectorEntry>(LIST_CONNECTORS, [id]);
      return row ?? null;
    },
    async actionList({ connectorId, category, search }) {
      const values = [connectorId ?? null, category ?? null, patternOf(search), null];
      return await database.run<ActionEntry>(LIST_ACTIONS, values);
    },
    actionsNoticed: () => database.run<ActionNotice>(NOTICED, []),
    async actionGet({ id }) {
      const [row] = await database.run<ActionEntry>(LIST_ACTIONS, [null, null, null, id]);
      return row ?? null;
    },
    connectorUpdate: async ({ id, isEnabled }) =>
      (await database.run(UPDATE_CONNECTOR, [id, isEnabled ?? null])).length > 0,
    async actionUpdate({ id, isEnabled, deprecationNotice }) {
      const changesNotice = deprecationNotice !== undefined;
      const values = [id, isEnabled ?? null, changesNotice, deprecationNotice ?? null];
      return (await database.run(UPDATE_ACTION, values)).length > 0;
    },
  };
}

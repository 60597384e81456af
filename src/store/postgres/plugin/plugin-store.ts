// Plugins on PostgreSQL.

import type { NewPlugin, PluginEntry, PluginHealthRow, PluginStore } from '../../plugin-port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const REGISTER = statement('plugin_register');
const GET = statement('plugin_get');
const LIST = statement('plugin_list');
const HEALTH = statement('plugin_health_get');
const PUT_HEALTH = statement('plugin_health_put');

export function pluginStore(database: Database): PluginStore {
  return {
    pluginRegister: async ({ pluginId, version, digest, manifest, code }) =>
      (await database.run(REGISTER, [pluginId, version, digest, manifest, code])).length > 0,
    pluginGet: async ({ pluginId, version }) => (await database.run<NewPlugin>(GET, [pluginId, version]))[0] ?? null,
    pluginList: ({ pluginId }) => database.run<PluginEntry>(LIST, [pluginId]),
    pluginHealth: ({ pluginId }) => database.run<PluginHealthRow>(HEALTH, [pluginId]),
    async pluginHealthPut({ pluginId, version, calls, quarantinedUntil }) {
      const until = quarantinedUntil === null ? null : new Date(quarantinedUntil);
      await database.run(PUT_HEALTH, [pluginId, version, calls, until]);
    },
  };
}

// Plugins of execution plans. They are registered for the whole installation, so only by the role System.

import { z } from 'zod';
import { PawlError } from '../../core/error/pawl-error.ts';
import { pageOf, shortListQuery } from '../../protocol/page.ts';
import { pluginRequest, pluginSchema } from '../../protocol/plugin.ts';
import { EVERY_TENANT } from '../../store/audit-port.ts';
import type { PluginEntry } from '../../store/plugin-port.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { shortList } from '../short-list.ts';

const common = { tag: 'Plugins', access: 'admin', path: '/api/v1/plugins' } as const;

export function pluginRoutes({ store, readPlugin }: Pick<RouteParts, 'readPlugin' | 'store'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      summary: 'List registered plugins: versions, digests, and which are in quarantine',
      query: z.object(shortListQuery),
      responses: { 200: pageOf(pluginSchema) },
      async handle({ query }) {
        const data = (await store.pluginList({ pluginId: null })).map(presentPlugin);
        return { status: 200, body: shortList(data, ({ pluginId, version }) => `${pluginId}@${version}`, query) };
      },
    }),
    defineRoute({
      ...common,
      role: 'System',
      method: 'POST',
      summary: 'Register a version of a plugin; a version never changes: other code is 409',
      body: pluginRequest,
      responses: { 201: pluginSchema },
      async handle({ body: { pluginId, version, manifest, code }, by }) {
        const read = readPlugin(manifest, code);
        if ('problem' in read) throw new PawlError('REQUEST_INVALID', `the manifest is not valid: ${read.problem}`);
        const { digest } = read;
        const plugin = { pluginId, version, digest, manifest: JSON.stringify(manifest), code };
        const isKept = await store.audited({
          tenantId: EVERY_TENANT,
          by,
          work: (store) => store.pluginRegister(plugin),
          deed: (kept) =>
            kept ? { action: 'plugin.register', target: `plugin/${pluginId}`, details: { version, digest } } : null,
        });
        if (!isKept) {
          const message = `version ${version} of plugin ${pluginId} has other code: register it under another version`;
          throw new PawlError('PLUGIN_EXISTS', message);
        }
        const [entry] = (await store.pluginList({ pluginId })).filter((each) => each.version === version);
        return { status: 201, body: presentPlugin(entry!) };
      },
    }),
  ];
}

function presentPlugin({ pluginId, version, digest, registeredAt, quarantinedUntil }: PluginEntry) {
  return {
    ...{ pluginId, version, digest, registeredAt: isoTime(registeredAt) },
    ...(quarantinedUntil === null ? {} : { quarantinedUntil: isoTime(quarantinedUntil) }),
  };
}

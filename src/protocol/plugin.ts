// Plugins of execution plans on the wire.

import { z } from 'zod';
import { timestamp } from './identifier.ts';

const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/);

/** The content of `plugin.json`. */
export const pluginManifest = z.strictObject({
  main: z.string().regex(/^[A-Za-z0-9._-]+\.m?js$/, 'must be the name of a module beside plugin.json'),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), z.unknown()).optional(),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  limits: z
    .strictObject({
      timeoutMs: z.int().min(1).max(3_600_000).default(30_000),
      memoryMb: z.int().min(16).max(4_096).default(128),
      network: z.enum(['none', 'localhost-only', 'tenant-network']).default('none'),
    })
    .prefault({}),
  allowedAPIs: z.array(z.enum(['log', 'http', 'putArtifact'])).default([]),
});

export const pluginRequest = z
  .object({
    pluginId: name,
    version: name.describe('a semantic version'),
    manifest: pluginManifest.describe('what plugin.json would hold'),
    code: z
      .string()
      .min(1)
      .max(5 * 1024 * 1024)
      .describe('the module'),
  })
  .strict()
  .meta({ id: 'PluginRequest' });

export const pluginSchema = z
  .object({
    pluginId: z.string(),
    version: z.string(),
    digest: z.string().describe('sha256 of the module: what `pluginDigest` of a plan pins'),
    registeredAt: timestamp,
    quarantinedUntil: timestamp.optional().describe('it broke too often; an earlier version runs instead'),
  })
  .meta({ id: 'Plugin' });

/** The manifest is read from a file, so the server checks it. */
export type PluginRequest = Omit<z.input<typeof pluginRequest>, 'manifest'> & { readonly manifest: object };
export type PluginJson = z.infer<typeof pluginSchema>;

// Plugins of execution plans (docs/plugins.md). A folder holds `<pluginId>/<version>/plugin.json` and the single module that it
// names. A plan pins a version or the module's digest; both are checked in every call against the bytes about to run. Inputs and
// outputs must match the plugin's schemas. A version that breaks too often goes into quarantine, and the last good one runs.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { RetryableError, TerminalError } from '../../core/error/error.ts';
import type { PluginRef } from '../../core/plan/plan.ts';
import { pluginManifest } from '../../protocol/plugin.ts';
import type { PluginStore } from '../../store/plugin-port.ts';
import { type ActionContext, type ActionDefinition, defineAction } from '../action.ts';
import type { PluginCalled } from '../attempt.ts';
import { compileSuppliedSchema, type SuppliedSchema } from '../supplied-schema.ts';
import { afterCall, HEALTHY, type Health, isQuarantined, lastGood } from './plugin-health.ts';
import { callPlugin, type PluginEnd } from './plugin-process.ts';

const MOST_CODE_BYTES = 5 * 1024 * 1024;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Registered plugins and the health of versions, shared by all processes. */
export type PluginShelf = Pick<PluginStore, 'pluginGet' | 'pluginList' | 'pluginHealth' | 'pluginHealthPut'>;

/** The digest of a module that may be registered, or the problems of its manifest. */
export function readPlugin(manifest: unknown, code: string): { digest: string } | { problem: string } {
  const read = pluginManifest.safeParse(manifest);
  if (read.success) return { digest: digestOf(Buffer.from(code)) };
  const [issue] = read.error.issues;
  return { problem: `${issue!.path.join('.')}: ${issue!.message}` };
}

const digestOf = (code: Buffer): string => createHash('sha256').update(code).digest('hex');

export interface PluginsOptions {
  readonly store: PluginShelf;
  /** null: only plugins registered over the API. */
  readonly folder: string | null;
  /** Whether plugins may share the runner's network when they ask for it. */
  readonly allowNetwork: boolean;
  /** Whether offline plugins may run where the system provides no network namespace. */
  readonly allowWithoutNamespace: boolean;
  readonly now: () => number;
  readonly called: (call: PluginCalled) => void;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}

interface Loaded {
  readonly pluginId: string;
  readonly version: string;
  readonly digest: string;
  readonly code: string;
  readonly manifest: z.output<typeof pluginManifest>;
}

export class Plugins {
  private readonly options: PluginsOptions;
  private readonly schemas = new Map<string, SuppliedSchema>();
  private isolation: Promise<boolean> | null = null;

  constructor(options: PluginsOptions) {
    this.options = options;
  }

  /** The plugin as an action, which an attempt runs like any other. */
  actionFor(ref: PluginRef, type: string): ActionDefinition {
    return defineAction({
      type,
      version: '1.0.0',
      connector: 'plugin',
      category: 'Plugin',
      params: z.unknown(),
      outputs: z.unknown(),
      run: async (input, context) => ({ outputs: await this.run(ref, type, input, context) }),
    }) as ActionDefinition;
  }

  private async run(ref: PluginRef, handler: string, input: unknown, context: ActionContext): Promise<unknown> {
    const plugin = await this.trusted(ref, context);
    const { manifest, code } = plugin;
    this.hold(plugin, 'inputSchema', input, 'PLUGIN_INPUT_INVALID');
    const { timeoutMs, memoryMb, network } = manifest.limits;
    if (network === 'tenant-network' && !this.options.allowNetwork)
      refuse('PLUGIN_REFUSED', plugin, 'it asks for a network, and plugin.allowNetwork is off');
    const apis = apisOf(manifest.allowedAPIs, context);
    const startedAt = this.options.now();
    const end = await callPlugin({
      code,
      handler,
      input,
      timeoutMs,
      memoryMb,
      network: await this.networkFor(plugin, network),
      signal: context.signal,
      apis,
    });
    const { pluginId, version } = plugin;
    this.options.called({ pluginId, version, outcome: end.kind, durationMs: this.options.now() - startedAt });
    if (end.kind !== 'stopped') await this.note(plugin, end.kind !== 'broken');
    return this.outputOf(plugin, end);
  }

  private outputOf(plugin: Loaded, end: PluginEnd): unknown {
    switch (end.kind) {
      case 'done':
        this.hold(plugin, 'outputSchema', end.output, 'PLUGIN_OUTPUT_INVALID');
        return end.output;
      case 'failed':
        if (end.retryable) throw new RetryableError('PLUGIN_FAILED', end.message);
        throw new TerminalError('PLUGIN_FAILED', end.message);
      case 'broken':
        throw new RetryableError('PLUGIN_BROKEN', `${nameOf(plugin)}: ${end.message}`);
      case 'stopped':
        throw new Error('the plugin was told to stop');
    }
  }

  /** The pinned version, unless it is in quarantine. A digest means exactly these bytes. */
  private async trusted(ref: PluginRef, { log }: ActionContext): Promise<Loaded> {
    const pinned = await this.pinned(ref);
    const health = await this.healthOf(ref.pluginId);
    const isBad = (version: string) => isQuarantined(health.get(version) ?? HEALTHY, this.options.now());
    if (!isBad(pinned.version)) return pinned;
    if (ref.pluginDigest !== undefined)
      refuse('PLUGIN_QUARANTINED', pinned, 'it broke too often, and the plan pins its digest');
    const versions = await this.versionsOf(ref.pluginId);
    const good = lastGood(versions, pinned.version, (version) => !isBad(version));
    if (good === null) refuse('PLUGIN_QUARANTINED', pinned, 'it broke too often, and there is no earlier version');
    log.warn(`${nameOf(pinned)} is in quarantine: version ${good} runs instead`);
    return this.load(ref.pluginId, good);
  }

  private async pinned({ pluginId, pluginVersion, pluginDigest }: PluginRef): Promise<Loaded> {
    const wanted = pluginDigest?.replace(/^sha256:/, '').toLowerCase();
    const versions = pluginVersion === undefined ? await this.versionsOf(pluginId) : [pluginVersion];
    for (const version of versions) {
      const loaded = await this.load(pluginId, version);
      if (wanted === undefined || wanted === loaded.digest) return loaded;
      if (pluginVersion !== undefined)
        refuse('PLUGIN_DIGEST_MISMATCH', loaded, `its digest is ${loaded.digest}, and the plan pins ${wanted}`);
    }
    throw new TerminalError('PLUGIN_NOT_FOUND', `no version of plugin ${pluginId} has the digest ${wanted}`);
  }

  private async versionsOf(pluginId: string): Promise<string[]> {
    const { folder } = this.options;
    if (!NAME.test(pluginId)) return [];
    const there = folder === null ? [] : await readdir(join(folder, pluginId)).catch(() => []);
    const registered = await this.options.store.pluginList({ pluginId });
    return [...new Set([...there, ...registered.map(({ version }) => version)])];
  }

  private async load(pluginId: string, version: string): Promise<Loaded> {
    const { folder } = this.options;
    const missing = (why: string) =>
      new TerminalError('PLUGIN_NOT_FOUND', `there is no plugin ${pluginId} ${version}: ${why}`);
    if (!NAME.test(pluginId) || !NAME.test(version)) throw missing('that is no name');
    const registered = await this.options.store.pluginGet({ pluginId, version });
    if (registered !== null) {
      const { code, manifest } = registered;
      const digest = digestOf(Buffer.from(code));
      return { pluginId, version, digest, code, manifest: pluginManifest.parse(JSON.parse(manifest)) };
    }
    if (folder === null) throw missing('it was not registered, and this installation has no folder (plugin.folder)');
    const place = join(folder, pluginId, version);
    const text = await readFile(join(place, 'plugin.json'), 'utf8').catch(() => null);
    if (text === null) throw missing('it has no plugin.json');
    const manifest = pluginManifest.safeParse(jsonOf(text));
    if (!manifest.success) {
      const [issue] = manifest.error.issues;
      throw missing(`its plugin.json is not valid: ${issue!.path.join('.')}: ${issue!.message}`);
    }
    const code = await readFile(join(place, manifest.data.main)).catch(() => null);
    if (code === null || code.length > MOST_CODE_BYTES)
      throw missing(`${manifest.data.main} is missing, or larger than 5 MB`);
    const digest = digestOf(code);
    return { pluginId, version, digest, code: code.toString(), manifest: manifest.data };
  }

  /** The schema gate, before the call and after it. */
  private hold(plugin: Loaded, which: 'inputSchema' | 'outputSchema', value: unknown, code: string): void {
    const schema = plugin.manifest[which];
    if (schema === undefined) return;
    const key = `${plugin.pluginId}/${plugin.digest}/${which}`;
    let check = this.schemas.get(key);
    if (check === undefined) {
      try {
        check = compileSuppliedSchema(schema);
      } catch (error) {
        refuse('PLUGIN_REFUSED', plugin, `its ${which} is no JSON Schema: ${(error as Error).message}`);
      }
      this.schemas.set(key, check);
    }
    const [problem] = check(value);
    if (problem !== undefined)
      refuse(code, plugin, `${problem.path === '' ? 'the value' : problem.path}: ${problem.message}`);
  }

  private async networkFor(plugin: Loaded, wanted: Loaded['manifest']['limits']['network']) {
    if (wanted === 'tenant-network') return 'shared';
    this.isolation ??= hasNamespaces();
    if (await this.isolation) return wanted === 'none' ? 'own' : 'loopback';
    if (this.options.allowWithoutNamespace) return 'shared';
    return refuse('PLUGIN_REFUSED', plugin, 'this system gives it no network namespace (plugin.allowWithoutNamespace)');
  }

  /** By version, as all processes have found it. If the database is away, no version counts as bad. */
  private async healthOf(pluginId: string): Promise<Map<string, Health>> {
    const rows = await this.options.store.pluginHealth({ pluginId }).catch(() => []);
    return new Map(rows.map(({ version, ...health }) => [version, health]));
  }

  /** Two processes at the same moment may lose a call, never a quarantine. */
  private async note(plugin: Loaded, isWell: boolean): Promise<void> {
    const { store, now, warn } = this.options;
    const { pluginId, version, digest } = plugin;
    const before = (await this.healthOf(pluginId)).get(version) ?? HEALTHY;
    const after = afterCall(before, isWell, now());
    const put = { pluginId, version, calls: [...after.calls], quarantinedUntil: after.quarantinedUntil };
    const failed = (error: Error) => warn('the health of a plugin could not be written', { error: error.message });
    await store.pluginHealthPut(put).catch(failed);
    if (after.quarantinedUntil !== null && before.quarantinedUntil === null)
      warn('a plugin broke too often and is in quarantine', { plugin: nameOf(plugin), digest });
  }
}

const nameOf = ({ pluginId, version }: { readonly pluginId: string; readonly version: string }) =>
  `${pluginId} ${version}`;

function refuse(code: string, plugin: Loaded, why: string): never {
  throw new TerminalError(code, `plugin ${nameOf(plugin)}: ${why}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whether a process may create user and network namespaces. */
async function hasNamespaces(): Promise<boolean> {
  const end = await callPlugin({
    code: 'export default () => ({})',
    handler: '',
    input: null,
    memoryMb: 64,
    timeoutMs: 30_000,
    network: 'own',
    signal: new AbortController().signal,
    apis: {},
  });
  return end.kind === 'done';
}

type Api = (...args: unknown[]) => Promise<unknown>;

function apisOf(names: readonly string[], { log, http, artifacts, signal }: ActionContext): Record<string, Api> {
  const all: Record<string, Api> = {
    log: async (message) => log.info(String(message)),
    http: async (request) => {
      const { url, method, headers, body } = z
        .object({
          url: z.url(),
          method: z.string().default('GET'),
          headers: z.record(z.string(), z.string()).default({}),
          body: z.string().optional(),
        })
        .parse(request);
      const answer = await http.request({ url, method, headers, signal, ...(body === undefined ? {} : { body }) });
      return { status: answer.status, headers: answer.headers, body: answer.body.toString() };
    },
    putArtifact: async (name, content) =>
      artifacts.put({ kind: 'custom', name: String(name).slice(0, 200) }, String(content)),
  };
  return Object.fromEntries(names.map((name) => [name, all[name]!]));
}

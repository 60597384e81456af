// Plugins of execution plans that were registered over the API, and the health of every version, shared by all processes.

import type { JsonText, Timestamp } from './port.ts';

export interface PluginStore {
  /** False: this version is there with other code. The same code again changes nothing. */
  pluginRegister(params: NewPlugin): Promise<boolean>;
  pluginGet(params: { pluginId: string; version: string }): Promise<NewPlugin | null>;
  /** Without their code; of one plugin, or of all (null). */
  pluginList(params: { pluginId: string | null }): Promise<PluginEntry[]>;
  pluginHealth(params: { pluginId: string }): Promise<PluginHealthRow[]>;
  /** A quarantine that another process has begun stays. */
  pluginHealthPut(params: PluginHealthRow & { pluginId: string }): Promise<void>;
}

export interface NewPlugin {
  pluginId: string;
  version: string;
  digest: string;
  manifest: JsonText;
  code: string;
}

export interface PluginEntry {
  pluginId: string;
  version: string;
  digest: string;
  registeredAt: Timestamp;
  quarantinedUntil: Timestamp | null;
}

export interface PluginHealthRow {
  version: string;
  /** The newest last: true = well. */
  calls: boolean[];
  quarantinedUntil: Timestamp | null;
}

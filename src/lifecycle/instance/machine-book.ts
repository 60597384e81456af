// Compiled machines in memory. A version never changes, so it is compiled once. Which version is the newest belongs to a
// generation, and is read again when the generation has changed (every import raises it).

import type { Json } from '../../core/json/json.ts';
import type { LifecycleStore, LifecycleVersion } from '../../store/lifecycle-port.ts';
import { compileLifecycle } from '../machine/compile.ts';
import type { Machine } from '../machine/machine.ts';

export interface KnownMachine {
  readonly machine: Machine;
  readonly version: number;
}

interface LifecycleName {
  readonly tenantId: string;
  readonly env: string;
  readonly definition: string;
}

const MAX_VERSIONS = 1_000;

export class MachineBook {
  private readonly store: Pick<LifecycleStore, 'lifecycleGet'>;
  private readonly versions = new Map<string, KnownMachine>();
  private readonly newestOf = new Map<string, { readonly generation: string; readonly known: KnownMachine }>();

  constructor(store: Pick<LifecycleStore, 'lifecycleGet'>) {
    this.store = store;
  }

  /** The machine in memory, without waiting; undefined: call `newest`. */
  newestNow(name: LifecycleName, generation: string): KnownMachine | undefined {
    const found = this.newestOf.get(nameText(name));
    return found?.generation === generation ? found.known : undefined;
  }

  /** null: no such lifecycle. `generation` is the one the caller saw before it asked. */
  async newest(name: LifecycleName, generation: string): Promise<KnownMachine | null> {
    const known = this.newestNow(name, generation) ?? (await this.load(name, null));
    if (known !== null) this.newestOf.set(nameText(name), { generation, known });
    return known;
  }

  versionNow(name: LifecycleName, version: number): KnownMachine | undefined {
    return this.versions.get(versionText(name, version));
  }

  async version(name: LifecycleName, version: number): Promise<KnownMachine | null> {
    return this.versionNow(name, version) ?? this.load(name, version);
  }

  private async load(name: LifecycleName, version: number | null): Promise<KnownMachine | null> {
    const { tenantId, env, definition } = name;
    const row = await this.store.lifecycleGet({ tenantId, env, name: definition, version });
    return row === null ? null : this.keep(name, row);
  }

  private keep(name: LifecycleName, row: LifecycleVersion): KnownMachine {
    const key = versionText(name, row.version);
    const before = this.versions.get(key);
    if (before !== undefined) return before;
    const known = { machine: machineOf(row), version: row.version };
    if (this.versions.size >= MAX_VERSIONS) this.versions.clear();
    this.versions.set(key, known);
    return known;
  }
}

/** A machine was checked when it was imported, so a machine that no longer compiles is our bug. */
export function machineOf({ definition, policies, env, name, version }: LifecycleVersion): Machine {
  const read = (text: string) => JSON.parse(text) as Json;
  const { machine, problems } = compileLifecycle(read(definition), policies === null ? null : read(policies));
  if (machine !== null) return machine;
  throw new Error(`lifecycle ${env}/${name} version ${version} does not compile: ${problems[0]?.message}`);
}

const nameText = ({ tenantId, env, definition }: LifecycleName) => `${tenantId}\n${env}\n${definition}`;
const versionText = (name: LifecycleName, version: number) => `${nameText(name)}\n${version}`;

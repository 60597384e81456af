// The Conductor servers of an installation: the one of `conductor.url`, and named ones for some environments. A run stays where
// it was started, because its reference names the server; the configuration only decides where new runs go.

import { EngineUnavailableError } from '../driver.ts';
import { ConductorClient } from './conductor-client.ts';

export interface ConductorOptions {
  readonly url?: string | undefined;
  /** Further servers, by name. */
  readonly instances: Readonly<Record<string, string>>;
  /** The name of the server, by environment. */
  readonly byEnvironment: Readonly<Record<string, string>>;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';

export class ConductorInstances {
  private readonly clients = new Map<string, ConductorClient>();
  private readonly byEnvironment = new Map<string, ConductorClient>();
  /** The server of environments without a named one. */
  readonly first: ConductorClient;

  constructor({ url = DEFAULT_URL, instances, byEnvironment }: ConductorOptions) {
    this.first = this.add(url);
    const named = new Map(Object.entries(instances).map(([name, address]) => [name, this.add(address)]));
    for (const [environmentId, name] of Object.entries(byEnvironment)) {
      this.byEnvironment.set(environmentId, named.get(name)!);
    }
  }

  get all(): readonly ConductorClient[] {
    return [...this.clients.values()];
  }

  /** The server for new runs of an environment. */
  of(environmentId: string): ConductorClient {
    return this.byEnvironment.get(environmentId) ?? this.first;
  }

  /** The server of a run. Nobody works the tasks of a server that was removed from the configuration. */
  at(url: string | undefined): ConductorClient {
    if (url === undefined) return this.first;
    const found = this.clients.get(url);
    if (found !== undefined) return found;
    throw new EngineUnavailableError(
      `the run is on the Conductor server at ${url}, which is not configured here. Add it to conductor.instances`,
    );
  }

  private add(url: string): ConductorClient {
    const client = new ConductorClient(url);
    const known = this.clients.get(client.url);
    if (known === undefined) this.clients.set(client.url, client);
    return known ?? client;
  }
}

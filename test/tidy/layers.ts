// The layer table: which folder may import which folders and packages. Data, and the only copy of it: tidy.test.ts
// checks every import against it, and the diagram in ARCHITECTURE.md is drawn from it. What is not listed is forbidden.
// A path ending in `/*` stands for each folder directly below; the most specific row counts.

export interface Layer {
  /** A folder, a single file, or `folder/*`. */
  readonly path: string;
  readonly job: string;
  /** Rows whose files it may import, type-only imports included. Its own folder is always allowed. */
  readonly imports: readonly string[];
  /** npm packages and node: modules; `@scope/*` and `node:*` stand for all of a kind. */
  readonly packages: readonly string[];
  /** No clock, randomness, I/O, waiting or state of its own: everything arrives as data. */
  readonly pure?: true;
  /** One way among several to fill a port: only main.ts, storage.ts and catalog.ts know that it exists. */
  readonly implementation?: true;
  /** What its folders are for, where it has many: they may import each other. */
  readonly rooms?: Readonly<Record<string, string>>;
}

const pure = ['src/core', 'src/lifecycle', 'src/protocol'];
const ports = [...pure, 'src/store', 'src/action'];
const services = ['src/engine', 'src/delivery', 'src/trigger'];
const edges = ['src/server', 'src/driver'];
const implementations = [
  'src/store/postgres',
  'src/store/migrate',
  'src/store/embedded',
  'src/action/*',
  'src/driver/*',
];

export const layers: readonly Layer[] = [
  {
    path: 'src/core',
    job: 'expressions, templates, definitions, plans and the decider',
    imports: [],
    packages: ['acorn', 'zod', '@noble/hashes'],
    pure: true,
  },
  {
    path: 'src/lifecycle',
    job: 'state machines of business objects, their transitions and policies',
    imports: ['src/core'],
    packages: ['zod'],
    pure: true,
  },
  {
    path: 'src/protocol',
    job: 'the shapes of the HTTP API, shared by server, client and dashboard',
    imports: ['src/core', 'src/lifecycle'],
    packages: ['zod'],
    pure: true,
  },
  {
    path: 'src/store',
    job: 'the storage port, and what every user of it needs: renewing a lease, writing in groups',
    imports: pure,
    packages: [],
  },
  {
    path: 'src/store/postgres',
    job: 'the port on PostgreSQL: named queries, one module per aggregate, startInTransaction, the lease thread',
    imports: [...pure, 'src/store'],
    packages: ['pg', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/store/migrate',
    job: 'brings a database to the schema of migrations/, and dumps it',
    imports: [...pure, 'src/store'],
    packages: ['pg', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/store/embedded',
    job: 'a PostgreSQL server of our own, for development and tests',
    imports: [...pure, 'src/store'],
    packages: ['node:*'],
    implementation: true,
  },
  {
    path: 'src/action',
    job: 'the action contract and the registry',
    imports: [...pure, 'src/store'],
    packages: ['zod', 'ajv', 'node:async_hooks'],
  },
  {
    path: 'src/action/*',
    job: 'the connectors, one folder each',
    imports: [...pure, 'src/store', 'src/action'],
    packages: ['zod', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/action/core',
    job: 'the built-in core.* actions',
    imports: [...pure, 'src/store', 'src/action'],
    packages: ['zod', 'liquidjs', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/action/http',
    job: 'guarded outbound HTTP',
    imports: [...pure, 'src/store', 'src/action'],
    packages: ['zod', 'undici', 'ipaddr.js', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/action/slack',
    job: 'Slack',
    imports: [...pure, 'src/store', 'src/action'],
    packages: ['zod', '@slack/web-api', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/action/monday',
    job: 'Monday',
    imports: [...pure, 'src/store', 'src/action'],
    packages: ['zod', '@mondaydotcomorg/api'],
    implementation: true,
  },
  {
    path: 'src/action/email',
    job: 'e-mail',
    imports: [...pure, 'src/store', 'src/action'],
    packages: ['zod', 'nodemailer', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/engine',
    job: 'the native engine: claim, load, decide, commit, dispatch; timers, mailbox, leases, sweeper',
    imports: ports,
    packages: ['node:async_hooks', 'node:crypto', 'node:perf_hooks'],
    rooms: {
      runner:
        "a process's share of the work: lease, claims by lanes, loading, fairness between workflows and tenants, leaving",
      turn: 'what an execution in memory goes through: input, decision, commit, commands; parking, alarms, mail, dead letters',
      attempt:
        'handing attempts to actions and taking their results: places, turns between tenants, where a stray error came from',
      start:
        'accepting executions: which version, whether the payload suits it, many in one statement, closing the door',
      execution:
        'what may be asked of executions: cancel, signal, retry, call back, list, follow; runs of plans; dead letters',
      workflow: 'definitions: drafts, publishing and its checks, differences, dry runs, pipelines, compiled plans',
      template: 'document and workflow templates',
      quota: 'limits of tenants, and what they have used',
      lifecycle: 'state machines of business objects on the store: triggers, timeouts, reactions',
    },
  },
  {
    path: 'src/delivery',
    job: 'outbox, consumers, acknowledgement, monitor, event buses',
    imports: ports,
    packages: ['@nats-io/*', 'node:crypto', 'node:events'],
  },
  {
    path: 'src/trigger',
    job: 'what starts executions: webhook, schedule, event, manual',
    imports: [...pure, 'src/store'],
    packages: ['croner', 'standardwebhooks'],
  },
  {
    path: 'src/driver',
    job: 'the engine boundary: what runs a plan',
    imports: [...pure, 'src/store'],
    packages: ['zod'],
  },
  {
    path: 'src/driver/*',
    job: 'its implementations: native, Temporal, Conductor',
    imports: [...ports, 'src/engine', 'src/driver'],
    packages: ['@temporalio/*', 'undici', 'zod', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/server',
    job: 'HTTP: translation only, no decisions',
    imports: [...ports, ...services, 'src/driver'],
    packages: ['fastify', 'jose', 'zod', 'pino', 'prom-client', 'node:*'],
  },
  {
    path: 'src/trace',
    job: 'OpenTelemetry: spans of executions, nodes and attempts',
    imports: [...pure, 'src/store', 'src/engine'],
    packages: ['@opentelemetry/*', 'node:crypto'],
  },
  {
    path: 'src/sdk',
    job: 'the typed client and the workflow builder',
    imports: ['src/protocol'],
    packages: [],
  },
  {
    path: 'src/config',
    job: 'every option with its form, default and reason; the configuration file',
    imports: ['src/core', 'src/protocol', 'src/engine'],
    packages: ['zod', 'yaml', 'node:*'],
  },
  {
    path: 'src/config.ts',
    job: 'one resolved, validated configuration; the only reader of the environment',
    imports: ['src/core', 'src/engine', 'src/config'],
    packages: ['zod'],
  },
  {
    path: 'package.json',
    job: 'name, version and description',
    imports: [],
    packages: [],
  },
  {
    path: 'src/telemetry.ts',
    job: 'whom the parts tell what happens: the log, the metrics and the traces',
    imports: [...ports, ...services, 'src/server', 'src/trace', 'src/config.ts', 'package.json'],
    packages: [],
  },
  {
    path: 'src/storage.ts',
    job: 'the database of an installation: the one it names, or an embedded one',
    imports: ['src/store', 'src/store/postgres', 'src/store/migrate', 'src/store/embedded', 'src/config.ts'],
    packages: [],
  },
  {
    path: 'src/catalog.ts',
    job: 'the actions and templates of an installation; knows every connector',
    imports: [...ports, 'src/action/*', 'src/store/migrate', 'src/engine', 'src/config.ts', 'src/telemetry.ts'],
    packages: [],
  },
  {
    path: 'src/messaging.ts',
    job: 'puts lifecycles and delivery together',
    imports: [...ports, ...services, 'src/config.ts', 'src/telemetry.ts'],
    packages: ['node:crypto'],
  },
  {
    path: 'src/foundation.ts',
    job: 'what the other parts stand on: the database, the actions, the telemetry, and what they share',
    imports: [
      ...[...ports, 'src/engine', 'src/config', 'src/config.ts'],
      ...['src/telemetry.ts', 'src/storage.ts', 'src/catalog.ts'],
    ],
    packages: ['node:crypto'],
  },
  {
    path: 'src/services.ts',
    job: 'what may be asked of an installation',
    imports: [...ports, ...services, 'src/config', 'src/messaging.ts', 'src/foundation.ts'],
    packages: ['node:crypto'],
  },
  {
    path: 'src/running.ts',
    job: 'the runner of an installation, and the way of an attempt through it',
    imports: [...ports, 'src/engine', 'src/catalog.ts', 'src/foundation.ts'],
    packages: ['node:crypto'],
  },
  {
    path: 'src/main.ts',
    job: 'puts the parts together, and is what a program imports',
    imports: [
      ...[...ports, ...services, ...edges, ...implementations, 'src/config.ts', 'src/telemetry.ts'],
      ...['src/messaging.ts', 'src/foundation.ts', 'src/services.ts', 'src/running.ts'],
    ],
    packages: [],
  },
  {
    path: 'schemas',
    job: 'generated: JSON Schemas of the definition formats, and the list of built-in actions',
    imports: [],
    packages: [],
  },
  {
    path: 'src/cli',
    job: 'the pawl command; used by nothing',
    rooms: {
      command: 'the commands, one file each',
      file: 'what people wrote: definitions, machines, actions, with the place of every value',
      terminal: 'how it looks: tables, nodes as they run, problems in their lines',
    },
    imports: [...ports, ...services, ...edges, 'src/sdk', 'src/config.ts', 'src/main.ts', 'package.json', 'schemas'],
    packages: ['commander', 'node:*'],
  },
  {
    path: 'dashboard',
    job: 'what people see in the browser',
    imports: ['src/core', 'src/protocol', 'src/sdk'],
    packages: ['*'],
  },
  {
    path: 'examples',
    job: 'programs a user could have written; each is run by a test',
    imports: ['src/main.ts', 'src/sdk'],
    packages: ['zod', 'node:*'],
  },
];

/** The only file that reads process.env. */
export const environmentReader = 'src/config.ts';

/**
 * What must run unchanged in a browser and in a Temporal workflow, and the packages that it may reach at run time, through
 * whatever it imports. The ids of child executions are hashes; @noble/hashes is plain JavaScript that asks nothing.
 */
export const portable = { folder: 'src/core/decider', packages: ['@noble/hashes'] } as const;

/** Where SQL may be written, besides migrations. */
export const sqlFolder = 'src/store';

export interface Room {
  readonly layer: Layer;
  /** The folder (or file) itself: `src/action/slack` where the row says `src/action/*`. */
  readonly path: string;
}

/** The most specific row for a file, or undefined: such a file has no place in the architecture. */
export function roomOf(file: string): Room | undefined {
  let found: Room | undefined;
  for (const layer of layers) {
    const path = pathWithin(layer.path, file);
    if (path === undefined) continue;
    const longer = found === undefined || path.length > found.path.length;
    const named = found !== undefined && path.length === found.path.length && !layer.path.endsWith('/*');
    if (longer || named) found = { layer, path };
  }
  return found;
}

function pathWithin(row: string, file: string): string | undefined {
  if (!row.endsWith('/*')) return file === row || file.startsWith(`${row}/`) ? row : undefined;
  const parent = row.slice(0, -1);
  if (!file.startsWith(parent)) return undefined;
  const end = file.indexOf('/', parent.length);
  return end < 0 ? undefined : file.slice(0, end);
}

export function mayImport(from: Room, to: Room): boolean {
  return from.path === to.path || from.layer.imports.some((row) => standsFor(row, to.path));
}

export function mayUsePackage(from: Room, name: string): boolean {
  return from.layer.packages.some((allowed) => standsFor(allowed, name));
}

/** `a/*` and `node:*` stand for everything that begins so; anything else only for itself. */
export function standsFor(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

export function isPure(file: string): boolean {
  return roomOf(file)?.layer.pure === true;
}

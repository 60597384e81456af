// The layer table: which folder may import which folders and packages. Data, and the only copy of it: tidy.test.ts
// checks every import against it, and the diagram in ARCHITECTURE.md is drawn from it. What is not listed is forbidden.
// A path ending in `/*` stands for each folder directly below; the most specific row counts.

import { dashboardLayers } from './dashboard-layers.ts';

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
  /** One way among several to fill a port: only src/app and src/main.ts know that it exists. */
  readonly implementation?: true;
  /** What its folders are for, where it has many: they may import each other. */
  readonly rooms?: Readonly<Record<string, string>>;
}

const pure = ['src/core', 'src/lifecycle/machine', 'src/protocol'];
const ports = [...pure, 'src/clock', 'src/store', 'src/artifact', 'src/action'];
const rooms = [
  ...['src/secret', 'src/connection', 'src/engine', 'src/execution', 'src/workflow', 'src/template', 'src/quota'],
  ...['src/task-queue', 'src/statistics', 'src/lifecycle/instance'],
  ...['src/delivery', 'src/trigger', 'src/telemetry', 'src/driver'],
];
const implementations = [
  'src/store/postgres',
  'src/store/migrate',
  'src/store/embedded',
  'src/artifact/*',
  'src/action/*',
  'src/secret/*',
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
    path: 'src/lifecycle/machine',
    job: 'state machines of business objects, their transitions and policies',
    imports: ['src/core'],
    packages: ['zod'],
    pure: true,
  },
  {
    path: 'src/protocol',
    job: 'the shapes of the HTTP API, shared by server, client and dashboard',
    imports: ['src/core', 'src/lifecycle/machine'],
    packages: ['zod'],
    pure: true,
  },
  {
    path: 'src/clock',
    job: 'time inside a process: timers, the clock of the database, long work in turns of the loop',
    imports: ['src/core'],
    packages: ['node:perf_hooks'],
  },
  {
    path: 'src/store',
    job: 'the storage port, lease renewal and group writes',
    imports: [...pure, 'src/clock'],
    packages: ['node:async_hooks'],
  },
  {
    path: 'src/store/connection',
    job: 'how a PostgreSQL is reached: URL, hosts, TLS, the settings of a session, poolers',
    imports: ['src/store'],
    packages: ['pg', 'node:*'],
  },
  {
    path: 'src/store/postgres',
    job: 'the port on PostgreSQL: one folder per aggregate with its SQL, startInTransaction, the lease thread',
    imports: [...pure, 'src/clock', 'src/store', 'src/store/connection'],
    packages: ['pg', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/store/migrate',
    job: 'brings a database to the schema of migrations/, and dumps it',
    imports: [...pure, 'src/store', 'src/store/connection'],
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
    path: 'src/artifact',
    job: 'large results of attempts: the index, retention, and the port to where the bytes lie',
    imports: [...pure, 'src/clock', 'src/store'],
    packages: ['node:stream', 'node:crypto'],
  },
  {
    path: 'src/artifact/*',
    job: 'where the bytes of artifacts lie, one folder each',
    imports: [...pure, 'src/artifact'],
    packages: ['node:*'],
    implementation: true,
  },
  {
    path: 'src/action',
    job: 'the action contract, attempts and the registry',
    imports: [...pure, 'src/clock', 'src/store', 'src/artifact'],
    packages: ['zod', 'ajv', 'node:async_hooks', 'node:crypto'],
  },
  {
    path: 'src/action/*',
    job: 'the connectors, one folder each',
    imports: ports,
    packages: ['zod', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/action/core',
    job: 'the built-in core.* actions',
    imports: ports,
    packages: ['zod', 'liquidjs', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/action/http',
    job: 'guarded outbound HTTP',
    imports: ports,
    packages: ['zod', 'undici', 'ipaddr.js', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/action/slack',
    job: 'Slack',
    imports: ports,
    packages: ['zod', '@slack/web-api', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/action/monday',
    job: 'Monday',
    imports: ports,
    packages: ['zod', '@mondaydotcomorg/api'],
    implementation: true,
  },
  {
    path: 'src/action/email',
    job: 'e-mail',
    imports: ports,
    packages: ['zod', 'nodemailer', 'node:*'],
    implementation: true,
  },
  { path: 'src/secret', job: 'the port to keepers of secrets, and a box', imports: ports, packages: ['node:crypto'] },
  {
    path: 'src/secret/*',
    job: 'keepers of secrets, one folder each',
    imports: [...ports, 'src/secret'],
    packages: ['@aws-sdk/*', '@azure/*', '@google-cloud/*', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/connection',
    job: 'credentials of tenants for other systems: kinds, tokens, who gets which',
    imports: [...ports, 'src/secret'],
    packages: ['node:crypto'],
  },
  { path: 'src/quota', job: 'limits of tenants, and how much of them is used', imports: ports, packages: [] },
  {
    path: 'src/workflow',
    job: 'definitions: drafts, publishing and its checks, pipelines, plans by reference, compiled plans',
    imports: [...ports, 'src/quota'],
    packages: ['node:*'],
  },
  {
    path: 'src/testing',
    job: 'tests of workflows: the decider with pinned outputs and a clock that jumps, and the file of `pawl test`',
    imports: [...ports, 'src/workflow'],
    packages: ['zod'],
  },
  {
    path: 'src/template',
    job: 'document templates and workflow templates',
    imports: [...ports, 'src/workflow'],
    packages: [],
  },
  {
    path: 'src/engine',
    job: 'the native engine; what its three rooms share lies directly in it',
    imports: [...ports, 'src/workflow', 'src/quota'],
    packages: [],
  },
  {
    path: 'src/engine/attempt',
    job: 'hands attempts to actions and takes their results: places, turns between tenants',
    imports: [...ports, 'src/engine'],
    packages: ['node:async_hooks'],
  },
  {
    path: 'src/engine/turn',
    job: 'one turn of an execution: take input, decide, commit, carry out; parking, alarms, mail, dead letters',
    imports: [...ports, 'src/workflow', 'src/engine', 'src/engine/attempt'],
    packages: [],
  },
  {
    path: 'src/engine/runner',
    job: "a process's share of the work: lease, claims by lanes, loading, fairness, leaving",
    imports: [...ports, 'src/workflow', 'src/quota', 'src/engine', 'src/engine/attempt', 'src/engine/turn'],
    packages: [],
  },
  {
    path: 'src/driver',
    job: 'the engine boundary: which engine runs an execution, handing it over, looking after its run',
    imports: ports,
    packages: [],
  },
  {
    path: 'src/driver/*',
    job: 'the engines behind the boundary: native, Temporal',
    imports: [...ports, 'src/engine/turn', 'src/driver', 'src/workflow'],
    packages: ['@temporalio/*', 'node:*'],
    implementation: true,
  },
  {
    path: 'src/execution',
    job: 'starting executions; commands (cancel, signal, retry, call back), queries, runs of plans, dead letters',
    imports: [...ports, 'src/workflow', 'src/quota', 'src/engine', 'src/engine/turn', 'src/engine/attempt'],
    packages: ['node:crypto'],
  },
  {
    path: 'src/task-queue',
    job: 'attempts of task queues: workers in this process, and the door for workers that speak HTTP',
    imports: [...ports, 'src/quota', 'src/engine', 'src/engine/turn'],
    packages: [],
  },
  {
    path: 'src/statistics',
    job: 'what became of executions and attempts, added up: numbers over time, failures by cause',
    imports: ports,
    packages: ['node:crypto'],
  },
  {
    path: 'src/lifecycle/instance',
    job: 'business objects on the store: triggers, timeouts, reactions',
    imports: [...ports, 'src/workflow'],
    packages: [],
  },
  {
    path: 'src/delivery',
    job: 'outbox, consumers, acknowledgement, monitor, event buses',
    imports: ports,
    packages: ['@nats-io/*', 'node:crypto', 'node:events'],
  },
  {
    path: 'src/trigger',
    job: 'webhooks, schedules and events that start executions',
    imports: ports,
    packages: ['croner', 'jose', 'node:crypto'],
  },
  {
    path: 'src/telemetry',
    job: 'log, metrics, traces and health',
    imports: [
      ...ports,
      ...['src/secret', 'src/engine', 'src/engine/attempt', 'src/engine/turn'],
      ...['src/driver', 'src/execution', 'src/delivery', 'src/trigger'],
    ],
    packages: ['pino', 'prom-client', 'zod', '@opentelemetry/*', 'node:*'],
  },
  {
    path: 'src/server',
    job: 'HTTP: translation only, no decisions',
    imports: [...ports, ...rooms, 'src/engine/attempt'],
    packages: ['fastify', 'jose', 'zod', 'node:*'],
  },
  {
    path: 'src/sdk',
    job: 'the typed client and the workflow builder',
    imports: ['src/protocol'],
    packages: [],
  },
  {
    path: 'src/mcp',
    job: 'workflows as tools of AI agents (Model Context Protocol): a client of the API',
    imports: ['src/protocol', 'src/sdk'],
    packages: ['@modelcontextprotocol/*', 'node:*'],
  },
  {
    path: 'src/config',
    job: 'every option with its form, default and reason; the configuration file; the only reader of the environment',
    imports: ['src/core', 'src/protocol', 'src/engine'],
    packages: ['zod', 'yaml', 'node:*'],
  },
  { path: 'package.json', job: 'name, version and description', imports: [], packages: [] },
  {
    path: 'src/app',
    job: 'puts an installation together, one file per part; the only folder that knows the implementations',
    imports: [
      ...[...ports, ...rooms, ...implementations],
      ...['src/engine/attempt', 'src/engine/turn', 'src/engine/runner', 'src/server', 'src/testing'],
      ...['src/config', 'src/mcp', 'src/store/connection', 'package.json'],
    ],
    packages: ['node:*'],
  },
  {
    path: 'src/main.ts',
    job: 'what a program imports',
    imports: [...ports, ...implementations, 'src/delivery', 'src/config', 'src/app', 'src/testing'],
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
      file: 'reads the files that people write: definitions, machines, actions, with the place of every value',
      terminal: 'prints tables, running nodes, and problems in their lines',
    },
    imports: [
      ...[...ports, ...rooms, 'src/engine/attempt', 'src/server', 'src/sdk', 'src/mcp', 'src/config'],
      ...['src/testing', 'src/main.ts', 'package.json', 'schemas'],
    ],
    packages: ['commander', 'yaml', '@modelcontextprotocol/*', 'node:*'],
  },
  ...dashboardLayers,
  {
    path: 'examples',
    job: 'programs a user could have written; each is run by a test',
    imports: ['src/main.ts', 'src/sdk'],
    packages: ['zod', 'node:*'],
  },
];

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

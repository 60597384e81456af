// The state of a server: `pawl stats`, `failures`, `waits`, `find` and `runners`; `pawl continue`, which answers a wait by hand;
// and `pawl drain`, which lets a runner finish.

import type { Command } from 'commander';
import { executionId, jsonOption, oneOf } from '../argument.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

const BUCKETS = ['minute', 'hour', 'day'] as const;
const KEYS = ['workflow', 'version', 'action'] as const;

interface StatFlags extends ClientFlags {
  readonly workflow?: string;
  readonly bucket: (typeof BUCKETS)[number];
  readonly by: (typeof KEYS)[number];
}

interface CauseFlags extends ClientFlags {
  readonly workflow?: string;
  readonly since?: string;
}

export function register(program: Command): void {
  clientCommand(program, 'stats', 'started and ended executions over time, with p50 and p95')
    .option('-w, --workflow <id>', 'only this workflow')
    .option('--bucket <size>', 'minute, hour or day', oneOf(BUCKETS), 'hour')
    .option('--by <key>', 'workflow, version or action', oneOf(KEYS), 'workflow')
    .action(stats);
  clientCommand(program, 'failures', 'failures by cause, the most frequent first')
    .option('-w, --workflow <id>', 'only this workflow')
    .option('--since <time>', 'only since this time, e.g. 2026-01-31T09:30:00Z (default: one day ago)')
    .action(failures);
  clientCommand(program, 'waits', 'list open callbacks: the waiting node, since when and until when')
    .option('-w, --workflow <id>', 'only this workflow')
    .action(waits);
  clientCommand(program, 'continue', 'answer an open callback by hand')
    .argument('<id>', 'the execution', executionId)
    .argument('<node>', 'the node that waits')
    .option('--payload <json>', 'payload of the callback; @file reads a file')
    .action(continueWait);
  clientCommand(program, 'runners', 'list runners, how busy each is, and since when it runs').action(runners);
  clientCommand(program, 'drain', 'let a runner finish its attempts and take no more until it is restarted')
    .argument('<runner>', 'its id')
    .action(drain);
  clientCommand(program, 'resources', 'list resources of another system, and the execution that made or found each')
    .argument('[system]', 'the other system, such as slack')
    .argument('[type]', 'the type of the resource, such as message')
    .argument('[id]', 'the id that the other system gave it')
    .action(resources);
  clientCommand(program, 'find', 'find what an id, a requestId or a reference belongs to')
    .argument('<text>', 'the exact text')
    .action(find);
}

const given = (workflow: string | undefined) => (workflow === undefined ? {} : { workflowId: workflow });
const number = (value: number | undefined): string => (value === undefined ? '-' : String(value));

function show<Item>(
  flags: ClientFlags,
  page: { readonly data: readonly Item[] },
  head: readonly string[],
  rowOf: (item: Item) => string[],
  none: string,
): void {
  if (flags.json === true) return printJson(page);
  process.stdout.write(page.data.length === 0 ? `${none}\n` : table(head, page.data.map(rowOf)));
}

async function runners(flags: ClientFlags): Promise<void> {
  const page = await connect(flags).admin.runners();
  const head = ['RUNNER', 'NAME', 'STATE', 'HOST', 'VERSION', 'OWNED', 'PLACES', 'SINCE'];
  show(
    flags,
    page,
    head,
    ({ runnerId, name, state, host = '', version = '', owned, places, registeredAt }) => [
      ...[runnerId, name, state, host, version, String(owned)],
      ...[places === undefined ? '-' : `${places.busy}/${places.total}`, registeredAt],
    ],
    'no runners',
  );
}

async function drain(runnerId: string, flags: ClientFlags): Promise<void> {
  await connect(flags).admin.drainRunner(runnerId);
  if (flags.json === true) return printJson({ runnerId, state: 'draining' });
  process.stdout.write(`runner ${runnerId} drains\n`);
}

async function stats(flags: StatFlags): Promise<void> {
  const { workflow, bucket, by } = flags;
  const page = await connect(flags).statistics.over({ ...given(workflow), bucket, by });
  const head = ['AT', by.toUpperCase(), 'STARTED', 'SUCCEEDED', 'FAILED', 'TIMED OUT', 'CANCELLED', 'P50 MS', 'P95 MS'];
  show(
    flags,
    page,
    head,
    ({ at, key, started, succeeded, failed, timedOut, cancelled, p50Ms, p95Ms }) => [
      ...[at, key],
      ...[started, succeeded, failed, timedOut, cancelled].map(String),
      ...[p50Ms, p95Ms].map(number),
    ],
    'nothing ended in this time',
  );
}

async function failures(flags: CauseFlags): Promise<void> {
  const since = flags.since === undefined ? {} : { since: flags.since };
  const page = await connect(flags).statistics.failures({ ...given(flags.workflow), ...since });
  show(
    flags,
    page,
    ['COUNT', 'WORKFLOW', 'NODE', 'CODE', 'LAST', 'SAMPLE', 'MESSAGE'],
    ({ count, workflowId, nodeId = '-', code, lastAt, sampleId, message }) => [
      ...[String(count), workflowId, nodeId, code, lastAt, sampleId],
      message.slice(0, 80),
    ],
    'no failures in this time',
  );
}

async function waits(flags: CauseFlags): Promise<void> {
  const page = await connect(flags).executions.waits(given(flags.workflow));
  show(
    flags,
    page,
    ['EXECUTION', 'WORKFLOW', 'NODE', 'SINCE', 'UNTIL'],
    ({ executionId: id, workflowId, version, nodeId, since, until = '-' }) => [
      ...[id, `${workflowId}@${version}`, nodeId, since, until],
    ],
    'nothing waits for a callback',
  );
}

async function continueWait(id: string, node: string, flags: ClientFlags & { payload?: string }): Promise<void> {
  const payload = jsonOption('--payload', flags.payload) ?? {};
  const answer = await connect(flags).executions.continueWait(id, node, payload);
  if (flags.json === true) return printJson(answer);
  process.stdout.write(`${node} goes on\n`);
}

async function resources(
  system: string | undefined,
  resourceType: string | undefined,
  resourceId: string | undefined,
  flags: ClientFlags,
): Promise<void> {
  const wanted = Object.entries({ system, resourceType, resourceId }).filter(([, value]) => value !== undefined);
  const page = await connect(flags).executions.resources(Object.fromEntries(wanted));
  const rowOf = (link: (typeof page.data)[number]) => [
    link.system,
    link.resourceType,
    link.resourceId,
    link.executionId,
    link.nodeId,
    link.url ?? '',
  ];
  show(flags, page, ['SYSTEM', 'TYPE', 'ID', 'EXECUTION', 'NODE', 'URL'], rowOf, 'no such resource');
}

async function find(text: string, flags: ClientFlags): Promise<void> {
  const page = await connect(flags).system.find(text);
  show(flags, page, ['KIND', 'ID', 'TITLE'], ({ kind, id, title }) => [kind, id, title], `nothing is called "${text}"`);
}

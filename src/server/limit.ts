// Callers limited to some workflows, consumers, connections or task queues. Deny by default: a limited caller may use the routes
// of this table, for its own names, and nothing else. The actions of a workflow are not limited: its publisher decided on them.
// So a limited caller runs, reads and signals workflows, but publishes none.

import { PawlError } from '../core/error/pawl-error.ts';
import { isWithin, type LimitKind, type Limits } from '../protocol/limit.ts';
import type { Caller } from './caller.ts';
import type { RouteRequest, RouteSpec } from './route.ts';

type Asked = Pick<RouteRequest<unknown, unknown, unknown, unknown>, 'params' | 'query' | 'body'>;
/** The workflow of an execution of the tenant; null: no such execution. */
export type WorkflowOf = (tenantId: string, executionId: string) => Promise<string | null>;

interface Rule {
  readonly route: RegExp;
  readonly kind: LimitKind;
  readonly name: (asked: Asked, workflowOf: (executionId: string) => Promise<string | null>) => unknown;
}

const param = (field: string) => (asked: Asked) => (asked.params as Record<string, unknown>)[field];
const filter = (field: string) => (asked: Asked) => (asked.query as Record<string, unknown>)[field];
const field = (name: string) => (asked: Asked) => (asked.body as Record<string, unknown>)[name];

const RULES: readonly Rule[] = [
  { route: /^GET \/api\/v1\/workflows\/:workflowId\b/, kind: 'workflows', name: param('workflowId') },
  {
    route: /^POST \/api\/v1\/workflows\/:workflowId\/(execute|trigger|runs\/:runId\/cancel)$/,
    kind: 'workflows',
    name: param('workflowId'),
  },
  { route: /^GET \/api\/v1\/executions$/, kind: 'workflows', name: filter('workflowId') },
  {
    route: /^[A-Z]+ \/api\/v1\/executions\/:executionId\b/,
    kind: 'workflows',
    name: (asked, workflowOf) => workflowOf(String(param('executionId')(asked))),
  },
  { route: /^GET \/api\/v1\/consumers\/:code$/, kind: 'consumers', name: param('code') },
  { route: /^GET \/api\/v1\/deliveries$/, kind: 'consumers', name: filter('consumer') },
  { route: /^POST \/api\/v1\/deliveries\/:ackGuid\/ack$/, kind: 'consumers', name: field('consumer') },
  { route: /^[A-Z]+ \/api\/v1\/connections\/:name\b/, kind: 'connections', name: param('name') },
  { route: /^POST \/api\/v1\/task-queues\/:taskQueue\//, kind: 'taskQueues', name: param('taskQueue') },
];

export async function refuseBeyond(
  caller: Pick<Caller, 'tenantId' | 'limits'> | null,
  { method, path, access }: RouteSpec,
  asked: Asked,
  workflowOf: WorkflowOf = async () => null,
): Promise<void> {
  if (caller?.limits === undefined || access === 'public' || access === 'authenticated') return;
  const { tenantId, limits } = caller;
  const rule = RULES.find(({ route }) => route.test(`${method} ${path}`));
  if (rule === undefined) throw beyond(limits, 'this address is about more than that');
  const name = await rule.name(asked, (executionId) => workflowOf(tenantId, executionId));
  // A missing resource is reported by the handler that looks it up.
  if (name === null) return;
  if (typeof name !== 'string') throw beyond(limits, `say which of the ${rule.kind} is meant`);
  if (!isWithin(limits, rule.kind, name)) throw beyond(limits, `"${name.slice(0, 200)}" is not among them`);
}

function beyond(limits: Limits, why: string): PawlError {
  const to = Object.entries(limits).map(([kind, names = []]) => `${kind} ${names.join(', ')}`);
  return new PawlError('FORBIDDEN', `the token is limited to ${to.join('; ')}: ${why}`);
}

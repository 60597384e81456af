// Lifecycles for callers: import machines, trigger events, read instances. The HTTP routes, the SDK's server side and
// `pawl.lifecycles` of an embedding program all use this class.

import type { Clock } from '../../clock/clock.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { Json } from '../../core/json/json.ts';
import type { Problem } from '../../core/problem/problem.ts';
import { type Actor, type AuditStore, SYSTEM } from '../../store/audit-port.ts';
import type {
  InstanceKey,
  InstanceRow,
  LifecycleStore,
  LifecycleVersion,
  TimelineEntry,
} from '../../store/lifecycle-port.ts';
import { invalid } from '../../workflow/workflow-check.ts';
import { compileLifecycle } from '../machine/compile.ts';
import type { Cause } from '../machine/decision.ts';
import type { Machine } from '../machine/machine.ts';
import { timeoutOf } from '../machine/timeout.ts';
import type { ConsumerDirectory } from './consumer-directory.ts';
import {
  type InstanceTriggers,
  lifecycleNotFound,
  RESERVED_REQUESTS,
  type TriggerAnswer,
} from './instance-triggers.ts';
import { type MachineBook, machineOf } from './machine-book.ts';
import { type StandingStore, startedWorkflowWarnings } from './started-workflows.ts';

export interface LifecyclesDeps {
  readonly store: LifecycleStore & StandingStore & Pick<AuditStore, 'audited'>;
  readonly machines: MachineBook;
  readonly directory: ConsumerDirectory;
  readonly triggers: InstanceTriggers;
  readonly newId: () => string;
  readonly clock: Pick<Clock, 'now'>;
}

export interface NewInstance {
  readonly externalRef: string;
  readonly actor?: string | undefined;
  readonly payload?: Json | undefined;
}

export interface TriggerRequest {
  readonly env: string;
  readonly definition: string;
  readonly externalRef: string;
  /** Name, id or code. */
  readonly event: string | number;
  readonly requestId: string;
  readonly actor?: string | undefined;
  readonly payload?: Json | undefined;
}

export interface InstanceView {
  readonly instanceId: string;
  readonly externalRef: string;
  readonly env: string;
  readonly definition: string;
  readonly version: number;
  readonly state: string;
  readonly final: boolean;
  readonly stateSince: number;
  readonly timeoutAt?: number;
}

interface Place {
  readonly env: string;
  readonly name: string;
}

export class Lifecycles {
  private readonly deps: LifecyclesDeps;

  constructor(deps: LifecyclesDeps) {
    this.deps = deps;
  }

  /** Throws LIFECYCLE_INVALID with every problem. The same import twice is a no-op. */
  async import(
    tenantId: string,
    { definition, policies = null }: { readonly definition: Json; readonly policies?: Json | null | undefined },
    by: Actor = SYSTEM,
  ): Promise<Place & { readonly version: number; readonly changed: boolean; readonly warnings: readonly Problem[] }> {
    const { machine, rows, problems } = compileLifecycle(definition, policies);
    if (machine === null || rows === null) throw invalid(problems, 'LIFECYCLE_INVALID');
    const { env, name } = machine;
    const codes = rows.routes.flatMap(({ consumers }) => consumers);
    const startsWorkflows = rows.routes.some(({ workflow }) => workflow !== null);
    // The consumers come first: once the import is visible, everybody it sends to exists.
    await this.deps.directory.ensureCodes(tenantId, [...new Set(codes)]);
    if (startsWorkflows) await this.deps.directory.ensureBuiltIn(tenantId, 'workflow');
    const imported = await this.deps.store.audited({
      tenantId,
      by,
      work: (joined) => joined.lifecycleImport({ tenantId, ...rows }),
      deed: ({ changed, version }) =>
        changed ? { action: 'lifecycle.import', target: `lifecycle/${env}/${name}`, details: { version } } : null,
    });
    if (imported.changed) await this.deps.directory.refresh();
    const warnings = [...problems, ...(await startedWorkflowWarnings(this.deps.store, tenantId, machine))];
    return { env, name, ...imported, warnings };
  }

  async trigger(tenantId: string, request: TriggerRequest, cause: Cause = { type: 'trigger' }): Promise<TriggerAnswer> {
    const requestId = requestIdOf(request, cause);
    const answer = await this.deps.triggers.apply({ ...request, requestId, tenantId, cause });
    // Only an order with `onlyAt` can be dropped.
    if (answer === null) throw new Error('a trigger without a revision was overtaken');
    return answer;
  }

  /** Creates an instance in its initial state and starts its timeout; no message is sent. An existing instance is unchanged. */
  async create(
    tenantId: string,
    { env, name }: Place,
    { externalRef, actor, payload }: NewInstance,
  ): Promise<{ readonly instance: InstanceView; readonly created: boolean }> {
    const { directory, machines, store, newId, clock } = this.deps;
    const key: InstanceKey = { tenantId, env, definition: name, externalRef };
    for (;;) {
      if (directory.generation === '') await directory.refresh();
      const { generation } = directory;
      const known = await machines.newest(key, generation);
      if (known === null) throw lifecycleNotFound(env, name);
      const { machine, version } = known;
      const at = clock.now();
      const state = machine.initial;
      const dueAt = timeoutOf(machine, { state, stateSince: at, timeoutsFired: 0, dueAt: null })?.dueAt ?? null;
      const text = payload === undefined ? null : JSON.stringify(payload);
      const made = {
        ...key,
        generation,
        instanceId: newId(),
        version,
        state,
        at,
        dueAt,
        actor: actor ?? null,
        payload: text,
      };
      const { current, created } = await store.instanceCreate(made);
      if (current) return { created, instance: await this.instance(tenantId, { env, name }, externalRef) };
      await directory.refresh();
    }
  }

  list(tenantId: string, page: { readonly after: Place | null; readonly limit: number }): Promise<LifecycleVersion[]> {
    return this.deps.store.lifecycleList({ tenantId, ...page });
  }

  async get(
    tenantId: string,
    { env, name }: Place,
    version: number | null = null,
  ): Promise<{ readonly row: LifecycleVersion; readonly machine: Machine }> {
    const row = await this.deps.store.lifecycleGet({ tenantId, env, name, version });
    if (row === null) throw lifecycleNotFound(env, name, version);
    return { row, machine: machineOf(row) };
  }

  /** Newest first. Throws when there is no such lifecycle. */
  async versions(
    tenantId: string,
    { env, name }: Place,
    page: { readonly before: number | null; readonly limit: number },
  ) {
    const found = await this.deps.store.lifecycleVersions({ tenantId, env, name, ...page });
    if (found.length === 0 && page.before === null) throw lifecycleNotFound(env, name);
    return found;
  }

  async instances(
    tenantId: string,
    { env, name: definition }: Place,
    page: {
      readonly state: string | null;
      readonly prefix?: string;
      readonly after: string;
      readonly limit: number;
    },
  ): Promise<InstanceView[]> {
    await this.newest(tenantId, env, definition);
    const rows = await this.deps.store.instanceList({ tenantId, env, definition, ...page });
    return Promise.all(rows.map((row) => this.viewOf(row)));
  }

  async instance(tenantId: string, place: Place, externalRef: string): Promise<InstanceView> {
    return this.viewOf(await this.rowOf(tenantId, place, externalRef));
  }

  async timeline(
    tenantId: string,
    place: Place,
    externalRef: string,
    page: { readonly after: string | null; readonly limit: number },
  ): Promise<TimelineEntry[]> {
    const { instanceId } = await this.rowOf(tenantId, place, externalRef);
    return this.deps.store.timelineList({ tenantId, instanceId, ...page });
  }

  /** Adds the application's own note to an instance. It is shown and has no other effect. */
  async addActivity(
    tenantId: string,
    place: Place,
    externalRef: string,
    note: { readonly activity: string; readonly status: string; readonly actor?: string; readonly payload?: Json },
  ): Promise<{ readonly activityId: string }> {
    const { instanceId } = await this.rowOf(tenantId, place, externalRef);
    const activityId = this.deps.newId();
    const { activity, status, actor = null, payload } = note;
    const text = payload === undefined ? null : JSON.stringify(payload);
    const added = { tenantId, instanceId, activityId, activity, status, actor, payload: text };
    if (!(await this.deps.store.activityAdd(added))) throw instanceNotFound(externalRef);
    return { activityId };
  }

  private async rowOf(tenantId: string, { env, name }: Place, externalRef: string): Promise<InstanceRow> {
    const key: InstanceKey = { tenantId, env, definition: name, externalRef };
    const [row] = await this.deps.store.instanceLoad({ keys: [{ ...key, requestId: null }] });
    if (row !== null && row !== undefined) return row;
    await this.newest(tenantId, env, name);
    throw instanceNotFound(externalRef);
  }

  /** Throws when there is no such lifecycle. An empty list would mean that it has no instances. */
  private async newest(tenantId: string, env: string, definition: string): Promise<void> {
    const { generation } = this.deps.directory;
    const known = await this.deps.machines.newest({ tenantId, env, definition }, generation);
    if (known === null) throw lifecycleNotFound(env, definition);
  }

  private async viewOf(row: InstanceRow): Promise<InstanceView> {
    const known = await this.deps.machines.version(row, row.version);
    if (known === null) throw lifecycleNotFound(row.env, row.definition, row.version);
    const { instanceId, externalRef, env, definition, version, state, stateSince } = row;
    const final = known.machine.states.get(state)?.isFinal === true;
    // A claim moves due_at for a while, so the real due time is computed.
    const timeout = row.dueAt === null ? null : timeoutOf(known.machine, row);
    const view = { instanceId, externalRef, env, definition, version, state, final, stateSince };
    return timeout === null ? view : { ...view, timeoutAt: timeout.dueAt };
  }
}

/** The id of a step comes from its execution, so it is one of ours. */
function requestIdOf({ requestId }: TriggerRequest, { type }: Cause): string {
  if (type !== 'trigger') return `${RESERVED_REQUESTS}${type}:${requestId}`;
  if (!requestId.startsWith(RESERVED_REQUESTS)) return requestId;
  throw new PawlError(
    'REQUEST_INVALID',
    `\`requestId\` must not begin with "${RESERVED_REQUESTS}": those are Pawl's own`,
  );
}

function instanceNotFound(externalRef: string): PawlError {
  return new PawlError('INSTANCE_NOT_FOUND', `there is no instance "${externalRef}" of this lifecycle`);
}

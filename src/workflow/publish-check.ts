// The checks of publishing beyond the definition: the triggerSchema is a JSON Schema, started workflows exist, and literal
// parameters fit their actions. A missing workflow may still be created, so that is a warning. Bad parameters are a warning too,
// unless `validateParameterTemplates` is set.

import { isJsonObject, type Json } from '../core/json/json.ts';
import { childPointer } from '../core/problem/pointer.ts';
import type { Problem } from '../core/problem/problem.ts';
import { below } from '../core/problem/template-refusal.ts';
import type { ConnectionStore } from '../store/secret-port.ts';
import type { WorkflowLifeStore } from '../store/workflow-port.ts';
import { ParameterCheck } from './parameter-check.ts';
import type { SchemaCheck } from './schema-check.ts';
import { type ActionCatalog, actionUses, type PublishOptions, writtenNodes } from './workflow-check.ts';

export interface PublishCheckDeps {
  readonly store: Pick<WorkflowLifeStore, 'workflowStandings'> & Pick<ConnectionStore, 'connectionsNamed'>;
  readonly schemas: SchemaCheck;
  readonly options: PublishOptions;
}

export class PublishCheck {
  private readonly deps: PublishCheckDeps;
  private readonly parameters = new ParameterCheck();

  constructor(deps: PublishCheckDeps) {
    this.deps = deps;
  }

  /** The compiler checks that it is an object. Only compiling it shows whether it is a JSON Schema. */
  async triggerSchemaProblems(tenantId: string, definition: Json): Promise<Problem[]> {
    const schema = isJsonObject(definition) ? definition.triggerSchema : undefined;
    if (!isJsonObject(schema)) return [];
    return below('/triggerSchema', await this.deps.schemas.schemaProblems(schema, { tenantId }));
  }

  async problems(tenantId: string, definition: Json, catalog: ActionCatalog): Promise<Problem[]> {
    return [
      ...(await this.triggerSchemaProblems(tenantId, definition)),
      ...(await this.subworkflowProblems(tenantId, definition)),
      ...this.parameterProblems(definition, catalog),
      ...(await this.connectionProblems(tenantId, definition, catalog)),
    ];
  }

  private async subworkflowProblems(tenantId: string, definition: Json): Promise<Problem[]> {
    const uses = subworkflowUses(definition);
    if (uses.length === 0) return [];
    // The compiler reports a workflow that starts itself.
    const own = isJsonObject(definition) ? definition.id : undefined;
    const others = uses.filter(({ workflowId }) => workflowId !== own);
    const standings = await this.deps.store.workflowStandings({ tenantId, wanted: others });
    return others.flatMap((use, index) => standingProblems(use, standings[index]!));
  }

  /** A node with a missing connection would fail every time. */
  private async connectionProblems(tenantId: string, definition: Json, catalog: ActionCatalog): Promise<Problem[]> {
    const uses = connectionUses(definition);
    if (uses.length === 0) return [];
    const names = [...new Set(uses.map(({ name }) => name))];
    const found = await this.deps.store.connectionsNamed({ tenantId, names });
    const known = new Map(found.map((connection) => [connection.name, connection]));
    return uses.flatMap((use) => connectionProblem(use, known, catalog));
  }

  private parameterProblems(definition: Json, catalog: ActionCatalog): Problem[] {
    const isStrict = this.deps.options.validateParameterTemplates;
    return actionUses(definition).flatMap(({ type, parameters, parametersAt }) => {
      const schema = catalog.get(type)?.parameterSchema;
      if (schema === undefined || parametersAt === null) return [];
      const found = this.parameters.problems(schema, parameters ?? {}, parametersAt);
      return isStrict ? found : found.map((problem) => ({ ...problem, severity: 'warning' as const }));
    });
  }
}

interface ConnectionUse {
  readonly name: string;
  readonly actionType: string;
  readonly path: string;
}

function connectionUses(definition: Json): ConnectionUse[] {
  if (!isJsonObject(definition)) return [];
  const nodes = writtenNodes(definition).map(({ at, node }) => [at, node] as const);
  const tasks = isJsonObject(definition.tasks) ? Object.entries(definition.tasks) : [];
  const placed = [...nodes, ...tasks.map(([name, task]) => [childPointer('/tasks', name), task] as const)];
  return placed.flatMap(([at, item]) => {
    if (!isJsonObject(item) || typeof item.connection !== 'string') return [];
    const actionType = typeof item.actionType === 'string' ? item.actionType : 'http.step';
    return [{ name: item.connection, actionType, path: `${at}/connection` }];
  });
}

function connectionProblem(
  { name, actionType, path }: ConnectionUse,
  known: ReadonlyMap<string, { readonly connector: string; readonly kind: string }>,
  catalog: ActionCatalog,
): Problem[] {
  const found = known.get(name);
  if (found === undefined) {
    const suggestion = 'create it with `pawl connections create`, or POST /api/v1/connections';
    return [{ code: 'CONNECTION_NOT_FOUND', path, message: `there is no connection \`${name}\``, suggestion }];
  }
  const connector = catalog.get(actionType)?.connectorId;
  // A credential for `http` may go to any API; the connection itself limits the hosts.
  if (connector === undefined || connector === 'http' || connector === found.connector) return [];
  const message = `the connection \`${name}\` is for ${found.connector}, and \`${actionType}\` is an action of ${connector}`;
  return [{ code: 'CONNECTION_MISMATCH', path, message, suggestion: `name a connection for ${connector}` }];
}

interface SubworkflowUse {
  readonly workflowId: string;
  /** null: the current one. */
  readonly version: number | null;
  readonly path: string;
}

function subworkflowUses(definition: Json): SubworkflowUse[] {
  return writtenNodes(definition).flatMap(({ at, node }) => {
    if (node.nodeType !== 'subworkflow' || typeof node.workflowId !== 'string') return [];
    const version = Number.isInteger(node.workflowVersion) ? (node.workflowVersion as number) : null;
    return [{ workflowId: node.workflowId, version, path: `${at}/workflowId` }];
  });
}

type Standing = Awaited<ReturnType<WorkflowLifeStore['workflowStandings']>>[number];

function standingProblems({ workflowId, version, path }: SubworkflowUse, standing: Standing): Problem[] {
  if (standing.status === null) {
    return [
      warning('SUBWORKFLOW_MISSING', path, `there is no workflow \`${workflowId}\``, 'publish it before this runs'),
    ];
  }
  if (version !== null && !standing.hasVersion) {
    const message = `workflow \`${workflowId}\` has no version ${version}`;
    return [warning('SUBWORKFLOW_MISSING', path, message, 'name a version that is published, or none')];
  }
  if (standing.status === 'Active' && standing.isEnabled) return [];
  const state = standing.status === 'Active' ? 'disabled' : standing.status;
  const message = `workflow \`${workflowId}\` is ${state}: it cannot be started`;
  return [warning('SUBWORKFLOW_NOT_ACTIVE', path, message, 'activate it before this runs')];
}

const warning = (code: string, path: string, message: string, suggestion: string): Problem => ({
  code,
  path,
  message,
  suggestion,
  severity: 'warning',
});

// What publishing looks up beyond the definition itself (000 §9.1.1): that the triggerSchema is one, that the workflows it starts
// are there, and that parameters which are written out suit their actions. A workflow that is not there yet may come, so that
// is a warning. Parameters are a warning as well, unless `validateParameterTemplates` asks for strictness about them.

import { childPointer } from '../../core/definition/pointer.ts';
import type { Problem } from '../../core/definition/problem.ts';
import { isJsonObject, type Json } from '../../core/json/json.ts';
import type { WorkflowLifeStore } from '../../store/workflow-port.ts';
import type { SchemaCheck } from '../start/schema-check.ts';
import { below } from '../template/template-refusal.ts';
import { ParameterCheck } from './parameter-check.ts';
import { type ActionCatalog, actionUses, type PublishOptions } from './workflow-check.ts';

export interface PublishCheckDeps {
  readonly store: Pick<WorkflowLifeStore, 'workflowStandings'>;
  readonly schemas: SchemaCheck;
  readonly options: PublishOptions;
}

export class PublishCheck {
  private readonly deps: PublishCheckDeps;
  private readonly parameters = new ParameterCheck();

  constructor(deps: PublishCheckDeps) {
    this.deps = deps;
  }

  /** That it is an object is the schema's to say; that it is a JSON Schema can only be found out by using it as one. */
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
    ];
  }

  private async subworkflowProblems(tenantId: string, definition: Json): Promise<Problem[]> {
    const uses = subworkflowUses(definition);
    if (uses.length === 0) return [];
    const own = isJsonObject(definition) ? definition.id : undefined;
    const others = uses.filter(({ workflowId }) => workflowId !== own);
    const standings = await this.deps.store.workflowStandings({ tenantId, wanted: others });
    const missing = others.flatMap((use, index) => standingProblems(use, standings[index]!));
    const selves = uses.filter(({ workflowId }) => workflowId === own);
    return [...missing, ...selves.map(selfProblem)];
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

interface SubworkflowUse {
  readonly workflowId: string;
  /** null: whichever is current. */
  readonly version: number | null;
  readonly path: string;
}

function subworkflowUses(definition: Json): SubworkflowUse[] {
  const nodes = isJsonObject(definition) && Array.isArray(definition.nodes) ? definition.nodes : [];
  return nodes.flatMap((node, index) => {
    if (!isJsonObject(node) || node.nodeType !== 'subworkflow' || typeof node.workflowId !== 'string') return [];
    const version = Number.isInteger(node.workflowVersion) ? (node.workflowVersion as number) : null;
    return [{ workflowId: node.workflowId, version, path: childPointer(`/nodes/${index}`, 'workflowId') }];
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

const selfProblem = ({ path }: SubworkflowUse): Problem =>
  warning('SUBWORKFLOW_RECURSION', path, 'the workflow starts itself', 'that fails unless engine.allowRecursion is on');

const warning = (code: string, path: string, message: string, suggestion: string): Problem => ({
  code,
  path,
  message,
  suggestion,
  severity: 'warning',
});

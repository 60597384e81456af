// Workflow templates: workflows to start from. A tenant sees the official ones and its own, and may change its own (S1).
// Instantiating fills in the config and creates a Draft; its author reviews and publishes it.

import type { DocumentRenderer } from '../action/document-renderer.ts';
import { detectFormat } from '../core/definition/compile.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import { pointerOf } from '../core/problem/pointer.ts';
import type { Problem } from '../core/problem/problem.ts';
import { below, templateRefusal } from '../core/problem/template-refusal.ts';
import { type Actor, type AuditStore, SYSTEM } from '../store/audit-port.ts';
import type {
  NewWorkflowTemplate,
  TemplateStore,
  WorkflowTemplate,
  WorkflowTemplateFilter,
  WorkflowTemplateSummary,
} from '../store/template-port.ts';
import { checkDefinition } from '../workflow/workflow-check.ts';
import type { Workflows } from '../workflow/workflows.ts';
import { freeName, slugOf } from './workflow-template-name.ts';
import { configReadings, readingText, renderWorkflowTemplate } from './workflow-template-render.ts';

export interface WorkflowTemplatesDeps {
  readonly store: TemplateStore & Pick<AuditStore, 'audited'>;
  readonly workflows: Pick<Workflows, 'create'>;
  readonly renderer: Pick<DocumentRenderer, 'checkSchema' | 'checkValue'>;
}

export interface TemplateContent {
  readonly displayName: string;
  readonly description: string;
  readonly category: string;
  readonly definition: JsonObject;
  readonly configSchema: JsonObject;
  readonly thumbnailUrl?: string | undefined;
  readonly author?: string | undefined;
  readonly tags: readonly string[];
}

/** Another caller may take the name between the check and the insert. More tries than this are not bad luck. */
const NAME_TRIES = 20;

export class WorkflowTemplates {
  private readonly deps: WorkflowTemplatesDeps;

  constructor(deps: WorkflowTemplatesDeps) {
    this.deps = deps;
  }

  async get(tenantId: string, templateId: string): Promise<WorkflowTemplate> {
    const template = await this.deps.store.workflowTemplateGet({ tenantId, templateId });
    if (template === null) throw notFound(templateId);
    return template;
  }

  list(filter: WorkflowTemplateFilter, page: { afterId: string; limit: number }): Promise<WorkflowTemplateSummary[]> {
    return this.deps.store.workflowTemplateList({ ...filter, ...page });
  }

  async create(
    tenantId: string,
    templateId: string,
    content: TemplateContent,
    by: Actor = SYSTEM,
  ): Promise<WorkflowTemplate> {
    await this.check(tenantId, content);
    const isNew = await this.change({ tenantId, templateId, by }, 'create', (store) =>
      store.workflowTemplateAdd({ tenantId, ...stored(templateId, content) }),
    );
    if (!isNew)
      throw new PawlError('WORKFLOW_TEMPLATE_EXISTS', `a template "${templateId}" exists: replace it with PUT`);
    return this.get(tenantId, templateId);
  }

  async replace(
    tenantId: string,
    templateId: string,
    content: TemplateContent,
    by: Actor = SYSTEM,
  ): Promise<WorkflowTemplate> {
    await this.requireOwn(tenantId, templateId);
    await this.check(tenantId, content);
    const isThere = await this.change({ tenantId, templateId, by }, 'replace', (store) =>
      store.workflowTemplateReplace({ tenantId, ...stored(templateId, content) }),
    );
    if (!isThere) throw notFound(templateId);
    return this.get(tenantId, templateId);
  }

  async delete(tenantId: string, templateId: string, by: Actor = SYSTEM): Promise<void> {
    await this.requireOwn(tenantId, templateId);
    const isGone = await this.change({ tenantId, templateId, by }, 'delete', (store) =>
      store.workflowTemplateDelete({ tenantId, templateId }),
    );
    if (!isGone) throw notFound(templateId);
  }

  private change(
    { tenantId, templateId, by }: { tenantId: string; templateId: string; by: Actor },
    action: string,
    work: (store: TemplateStore) => Promise<boolean>,
  ): Promise<boolean> {
    const deed = { action: `workflow-template.${action}`, target: `workflow-template/${templateId}` };
    return this.deps.store.audited({ tenantId, by, work, deed: (happened) => (happened ? deed : null) });
  }

  /** Creates a draft from the template, and reports every problem of the config and of the result at once. */
  async instantiate(
    tenantId: string,
    templateId: string,
    { displayName, config }: { displayName: string; config: JsonObject },
  ): Promise<{ workflowId: string }> {
    const template = await this.get(tenantId, templateId);
    const schema = JSON.parse(template.configSchema) as JsonObject;
    const given = withDefaults(config, schema);
    const problems = await this.deps.renderer.checkValue(schema, given, { tenantId });
    if (problems.length > 0) throw templateRefusal('the config is not valid', below('/config', problems));
    const { definition, problems: left } = renderWorkflowTemplate(JSON.parse(template.definition) as Json, given);
    if (left.length > 0) throw templateRefusal('the template cannot be filled in with this config', left);
    const base = slugOf(displayName, templateId);
    for (let attempt = 1; attempt <= NAME_TRIES; attempt++) {
      const id = freeName(base, await this.deps.store.workflowNamesLike({ tenantId, base }));
      const created = await this.deps.workflows.create(tenantId, { ...(definition as JsonObject), id, displayName });
      if (created) return { workflowId: id };
    }
    throw new PawlError('WORKFLOW_EXISTS', `many workflows are called "${base}"; choose another displayName`);
  }

  private async requireOwn(tenantId: string, templateId: string): Promise<void> {
    const { isOwn } = await this.get(tenantId, templateId);
    if (!isOwn)
      throw new PawlError('FORBIDDEN', `the template "${templateId}" is official: copy it under an id of yours`);
  }

  // ── Whether a template can become a workflow ──────────────────────────────────────────────────────────────────────

  private async check(tenantId: string, { definition, configSchema }: TemplateContent): Promise<void> {
    const problems = [
      ...definitionProblems(definition, configSchema),
      ...below('/configSchema', await this.deps.renderer.checkSchema(configSchema, { tenantId })),
    ];
    if (problems.length === 0) problems.push(...(await this.exampleProblems(tenantId, definition, configSchema)));
    if (problems.length > 0) throw templateRefusal('the template is not valid', problems);
  }

  /** The schema's `examples` are tried: each must give a workflow. */
  private async exampleProblems(tenantId: string, definition: JsonObject, schema: JsonObject): Promise<Problem[]> {
    const examples = Array.isArray(schema.examples) ? schema.examples.filter(isJsonObject) : [];
    const found: Problem[] = [];
    for (const [index, example] of examples.entries()) {
      const config = withDefaults(example, schema);
      const wrong = await this.deps.renderer.checkValue(schema, config, { tenantId });
      found.push(...below(`/configSchema/examples/${index}`, wrong));
      if (wrong.length === 0) found.push(...below('/definition', await trialProblems(definition, config)));
    }
    return found;
  }
}

async function trialProblems(template: JsonObject, config: JsonObject): Promise<Problem[]> {
  const { definition, problems } = renderWorkflowTemplate(template, config);
  if (problems.length > 0) return problems;
  try {
    await checkDefinition({ ...(definition as JsonObject), id: 'trial', displayName: 'Trial' });
    return [];
  } catch (error) {
    if (!(error instanceof PawlError) || !Array.isArray(error.details)) throw error;
    return (error.details as Problem[]).filter(({ severity }) => severity !== 'warning');
  }
}

function definitionProblems(definition: JsonObject, schema: JsonObject): Problem[] {
  if (detectFormat(definition) !== 'graph') {
    return [{ code: 'NOT_A_GRAPH', path: '/definition', message: 'must be a graph workflow, with `nodes`' }];
  }
  const { properties } = schema;
  if (!isJsonObject(properties)) return [];
  return configReadings(definition)
    .filter(({ name }) => name !== undefined && !Object.hasOwn(properties, name))
    .map(({ name, path }) => ({
      code: 'UNKNOWN_CONFIG',
      path: pointerOf(path, '/definition'),
      message: `\`${readingText(name)}\` is not a property of configSchema`,
    }));
}

/** Fills in the defaults of omitted properties. */
function withDefaults(config: JsonObject, { properties }: JsonObject): JsonObject {
  if (!isJsonObject(properties)) return config;
  const defaults = Object.entries(properties).flatMap(([name, property]) =>
    isJsonObject(property) && property.default !== undefined ? [[name, property.default] as const] : [],
  );
  return { ...Object.fromEntries(defaults), ...config };
}

function stored(templateId: string, content: TemplateContent): NewWorkflowTemplate {
  const { displayName, description, category, definition, configSchema, thumbnailUrl, author, tags } = content;
  return {
    templateId,
    displayName,
    description,
    category,
    definition: JSON.stringify(definition),
    configSchema: JSON.stringify(configSchema),
    thumbnailUrl: thumbnailUrl ?? null,
    author: author ?? null,
    tags: [...tags],
  };
}

const notFound = (templateId: string): PawlError =>
  new PawlError('WORKFLOW_TEMPLATE_NOT_FOUND', `no workflow template "${templateId}"`);

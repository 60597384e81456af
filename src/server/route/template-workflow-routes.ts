// Workflow templates: list, read, write, and make a workflow from one.

import type { JsonObject } from '../../core/json/json.ts';
import { pageOf } from '../../protocol/page.ts';
import {
  instantiateAnswer,
  instantiateRequest,
  workflowTemplateContent,
  workflowTemplateListQuery,
  workflowTemplateParams,
  workflowTemplateRequest,
  workflowTemplateSchema,
  workflowTemplateSummarySchema,
} from '../../protocol/template-workflow.ts';
import type { TemplateContent, WorkflowTemplates } from '../../template/workflow-templates.ts';
import { cursorAfter, placeOf } from '../cursor.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { templateSummaryView, templateView } from './template-view.ts';

export interface TemplateWorkflowRoutesDeps {
  readonly workflowTemplates: WorkflowTemplates;
}

const PATH = '/api/v1/templates/workflows';
const common = { tag: 'Workflow templates', notFound: 'WORKFLOW_TEMPLATE_NOT_FOUND' } as const;
const ofTemplate = { ...common, params: workflowTemplateParams } as const;

export function templateWorkflowRoutes(deps: TemplateWorkflowRoutesDeps): RouteSpec[] {
  return [listRoute(deps), getRoute(deps), ...writeRoutes(deps), instantiateRoute(deps)];
}

function listRoute({ workflowTemplates }: TemplateWorkflowRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    access: 'templates:read',
    method: 'GET',
    path: PATH,
    summary: 'List workflow templates: the official ones and your own',
    query: workflowTemplateListQuery,
    responses: { 200: pageOf(workflowTemplateSummarySchema) },
    async handle({ query, caller: { tenantId } }) {
      const { category = null, isOfficial = null, search = null, limit, cursor } = query;
      const page = { afterId: placeOf(cursor), limit: limit + 1 };
      const found = await workflowTemplates.list({ tenantId, category, isOfficial, search }, page);
      const data = found.slice(0, limit).map(templateSummaryView);
      const next = found.length > limit ? { nextCursor: cursorAfter(data.at(-1)!.id) } : {};
      return { status: 200, body: { data, ...next } };
    },
  });
}

function getRoute({ workflowTemplates }: TemplateWorkflowRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofTemplate,
    access: 'templates:read',
    method: 'GET',
    path: `${PATH}/:workflowTemplateId`,
    summary: 'A workflow template with its definition and the schema of its config',
    responses: { 200: workflowTemplateSchema },
    async handle({ params, caller }) {
      const template = await workflowTemplates.get(caller.tenantId, params.workflowTemplateId);
      return { status: 200, body: templateView(template) };
    },
  });
}

/** Sound because what a request holds was parsed from JSON. */
const contentOf = <Body extends object>(body: Body) => body as unknown as TemplateContent;

function writeRoutes({ workflowTemplates }: TemplateWorkflowRoutesDeps): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      access: 'templates:manage',
      method: 'POST',
      path: PATH,
      summary: 'Create a workflow template',
      body: workflowTemplateRequest,
      responses: { 201: workflowTemplateSchema },
      async handle({ body, caller, by }) {
        const created = await workflowTemplates.create(caller.tenantId, body.id, contentOf(body), by);
        return { status: 201, body: templateView(created) };
      },
    }),
    defineRoute({
      ...ofTemplate,
      access: 'templates:manage',
      method: 'PUT',
      path: `${PATH}/:workflowTemplateId`,
      summary: 'Replace a workflow template of yours',
      body: workflowTemplateContent,
      onlyShown: ['id', 'isOfficial', 'createdAt', 'updatedAt'],
      responses: { 200: workflowTemplateSchema },
      async handle({ params, body, caller: { tenantId }, by }) {
        const { workflowTemplateId } = params;
        const replaced = await workflowTemplates.replace(tenantId, workflowTemplateId, contentOf(body), by);
        return { status: 200, body: templateView(replaced) };
      },
    }),
    defineRoute({
      ...ofTemplate,
      access: 'templates:manage',
      method: 'DELETE',
      path: `${PATH}/:workflowTemplateId`,
      summary: 'Delete a workflow template of yours; workflows made from it stay',
      responses: { 204: null },
      async handle({ params, caller, by }) {
        await workflowTemplates.delete(caller.tenantId, params.workflowTemplateId, by);
        return { status: 204 };
      },
    }),
  ];
}

function instantiateRoute({ workflowTemplates }: TemplateWorkflowRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofTemplate,
    access: 'workflows:manage',
    method: 'POST',
    path: `${PATH}/:workflowTemplateId/instantiate`,
    summary: 'Make a workflow from a template: a Draft, to look at and publish',
    body: instantiateRequest,
    responses: { 201: instantiateAnswer },
    async handle({ params, body: { displayName, config }, caller }) {
      const wanted = { displayName, config: config as JsonObject };
      const made = await workflowTemplates.instantiate(caller.tenantId, params.workflowTemplateId, wanted);
      return { status: 201, body: { ...made, status: 'Draft' } };
    },
  });
}

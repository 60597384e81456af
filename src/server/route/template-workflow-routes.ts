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
import type { TemplateContent } from '../../template/workflow-templates.ts';
import { cursorAfter, page, placeOf } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { presentTemplate, presentTemplateSummary } from '../present/template.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const PATH = '/api/v1/templates/workflows';
const common = { tag: 'Workflow templates', notFound: 'WORKFLOW_TEMPLATE_NOT_FOUND' } as const;
const ofTemplate = { ...common, params: workflowTemplateParams } as const;

export function templateWorkflowRoutes({ workflowTemplates }: Pick<RouteParts, 'workflowTemplates'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      access: 'templates:read',
      method: 'GET',
      path: PATH,
      summary: 'List workflow templates: the official ones and your own',
      query: workflowTemplateListQuery,
      responses: { 200: pageOf(workflowTemplateSummarySchema) },
      async handle({ query, caller: { tenantId } }) {
        const { category = null, isOfficial = null, search = null, limit, cursor } = query;
        const filter = { tenantId, category, isOfficial, search };
        return page(
          limit,
          (limit) => workflowTemplates.list(filter, { afterId: placeOf(cursor), limit }),
          ({ templateId }) => cursorAfter(templateId),
          (templates) => templates.map(presentTemplateSummary),
        );
      },
    }),
    defineRoute({
      ...ofTemplate,
      access: 'templates:read',
      method: 'GET',
      path: `${PATH}/:workflowTemplateId`,
      summary: 'A workflow template with its definition and the schema of its config',
      responses: { 200: workflowTemplateSchema },
      async handle({ params, caller }) {
        const template = await workflowTemplates.get(caller.tenantId, params.workflowTemplateId);
        return { status: 200, body: presentTemplate(template) };
      },
    }),
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
        return { status: 201, body: presentTemplate(created) };
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
        return { status: 200, body: presentTemplate(replaced) };
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
    defineRoute({
      ...ofTemplate,
      access: 'workflows:manage',
      method: 'POST',
      path: `${PATH}/:workflowTemplateId/instantiate`,
      summary: 'Create a workflow from a template, as a draft',
      body: instantiateRequest,
      responses: { 201: instantiateAnswer },
      async handle({ params, body: { displayName, config }, caller }) {
        const wanted = { displayName, config: config as JsonObject };
        const made = await workflowTemplates.instantiate(caller.tenantId, params.workflowTemplateId, wanted);
        return { status: 201, body: { ...made, status: 'Draft' } };
      },
    }),
  ];
}

/** Sound because a request is parsed from JSON. */
const contentOf = <Body extends object>(body: Body) => body as unknown as TemplateContent;

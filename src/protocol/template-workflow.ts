// Workflow templates on the wire: workflows to start from, and their configuration.

import { z } from 'zod';
import { storedText, tenantId, timestamp, workflowId } from './identifier.ts';
import { pageQuery, queryFlag } from './page.ts';

const MAX_TAGS = 20;

const text = (maximum: number) => storedText(maximum).min(1);
const tag = storedText(50).regex(/^\S+$/, 'is one word');
const templateId = z.string().regex(/^[a-z][a-z0-9-]{0,99}$/, 'must be lower-case letters, digits and "-", up to 100');
const object = z.record(z.string(), z.unknown());

export const workflowTemplateParams = z.object({ workflowTemplateId: templateId });

const content = {
  displayName: text(200),
  description: text(2_000),
  category: text(100),
  definition: object.describe('a graph workflow; `{{ config.… }}` is filled in when it is instantiated'),
  configSchema: object.describe('JSON Schema of `config`'),
  thumbnailUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
  author: text(200).optional(),
  tags: z.array(tag).max(MAX_TAGS).default([]),
  tenantId: tenantId.optional(),
};

export const workflowTemplateRequest = z
  .strictObject({ id: templateId, ...content })
  .meta({ id: 'WorkflowTemplateRequest' });

export const workflowTemplateContent = z.strictObject(content).meta({ id: 'WorkflowTemplateContent' });

const summary = z.object({
  id: z.string(),
  displayName: z.string(),
  description: z.string(),
  category: z.string(),
  thumbnailUrl: z.string().optional(),
  author: z.string().optional(),
  isOfficial: z.boolean(),
  tags: z.array(z.string()),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export const workflowTemplateSummarySchema = summary.meta({ id: 'WorkflowTemplateSummary' });

export const workflowTemplateSchema = summary
  .extend({ definition: z.unknown(), configSchema: z.unknown() })
  .meta({ id: 'WorkflowTemplate' });

export const workflowTemplateListQuery = z.object({
  category: storedText(100).min(1).optional(),
  isOfficial: queryFlag.optional(),
  search: storedText(200).min(1).optional().describe('in the id, the display name, the description or the tags'),
  ...pageQuery,
});

export const instantiateRequest = z
  .strictObject({
    displayName: text(200),
    config: object.default({}).describe("values by the template's configSchema"),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'InstantiateRequest' });

export const instantiateAnswer = z.object({ workflowId, status: z.literal('Draft') }).meta({ id: 'InstantiateAnswer' });

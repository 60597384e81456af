// Templates as the API shows them.

import type { z } from 'zod';
import type { documentSchema, documentSummarySchema, setSchema } from '../../protocol/template.ts';
import type { workflowTemplateSchema, workflowTemplateSummarySchema } from '../../protocol/template-workflow.ts';
import type {
  DocumentSummary,
  DocumentTemplate,
  TemplateSet,
  WorkflowTemplate,
  WorkflowTemplateSummary,
} from '../../store/template-port.ts';
import { isoTime } from './field.ts';

export function presentSet({ templateSetId, createdAt, updatedAt, ...set }: TemplateSet): z.input<typeof setSchema> {
  return { id: templateSetId, ...set, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}

export function presentDocumentSummary(document: DocumentSummary): z.input<typeof documentSummarySchema> {
  const { templateSetId, team, isGlobal, templateId, version, displayName, isEnabled, createdAt } = document;
  const createdAtText = isoTime(createdAt);
  return { templateSetId, team, isGlobal, id: templateId, version, displayName, isEnabled, createdAt: createdAtText };
}

export function presentDocument(document: DocumentTemplate): z.input<typeof documentSchema> {
  const { fields, bodyTemplate, helpMarkdown, isEnabled, setEnabled } = document;
  return {
    ...presentDocumentSummary(document),
    isEnabled: isEnabled && setEnabled,
    fields: JSON.parse(fields) as unknown,
    bodyTemplate,
    ...(helpMarkdown === null ? {} : { helpMarkdown }),
  };
}

export function presentTemplateSummary(
  template: WorkflowTemplateSummary,
): z.input<typeof workflowTemplateSummarySchema> {
  const { templateId, displayName, description, category, thumbnailUrl, author, isOfficial, tags } = template;
  return {
    id: templateId,
    displayName,
    description,
    category,
    ...(thumbnailUrl === null ? {} : { thumbnailUrl }),
    ...(author === null ? {} : { author }),
    isOfficial,
    tags,
    createdAt: isoTime(template.createdAt),
    updatedAt: isoTime(template.updatedAt),
  };
}

export function presentTemplate(template: WorkflowTemplate): z.input<typeof workflowTemplateSchema> {
  return {
    ...presentTemplateSummary(template),
    definition: JSON.parse(template.definition) as unknown,
    configSchema: JSON.parse(template.configSchema) as unknown,
  };
}

// Document templates on the wire: sets, versions, the fields that a form is made of, rendering.

import { z } from 'zod';
import type { Json } from '../core/json/json.ts';
import { storedText, tenantId, timestamp } from './identifier.ts';
import { pageQuery, queryNumber } from './page.ts';

const MAX_VERSION = 999_999_999;
const MAX_BODY_CHARS = 256 * 1024;
const MAX_HELP_CHARS = 64 * 1024;
const MAX_FIELDS = 200;

/** Words that have a meaning at the same place of a URL. */
const RESERVED = new Set(['sets', 'workflows', 'render', 'versions']);

const id = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,99}$/, 'must begin with a letter; then letters, digits, "_" or "-", up to 100')
  .refine((text) => !RESERVED.has(text), `must not be one of ${[...RESERVED].join(', ')}`)
  .meta({ not: { enum: [...RESERVED] } });

export const templateSetId = id;
export const templateId = id;

const name = storedText(200).min(1);
const team = storedText(100).min(1);

export const setParams = z.object({ templateSetId });
export const documentParams = z.object({ templateSetId, templateId });
export const loneDocumentParams = z.object({ templateId });
export const documentVersionParams = documentParams.extend({ version: queryNumber(1, MAX_VERSION) });

export const setRequest = z
  .strictObject({
    displayName: name,
    team,
    isEnabled: z.boolean().optional(),
    isGlobal: z.boolean().optional().describe('for every tenant; needs the role `System`'),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'TemplateSetRequest' });

export const setSchema = z
  .object({
    id: z.string(),
    displayName: z.string(),
    team: z.string(),
    isGlobal: z.boolean(),
    isEnabled: z.boolean(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'TemplateSet' });

const field = z.looseObject({
  key: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must be a name: letters, digits and "_"'),
  label: z.string().max(500).optional(),
  type: z.string().max(50).optional().describe('what a form shows: text, number, date, select, …'),
  required: z.boolean().optional(),
});

const fieldList = z
  .array(field)
  .max(MAX_FIELDS)
  .refine((fields) => new Set(fields.map(({ key }) => key)).size === fields.length, 'has the same key twice');

/** A list of fields, or an object with more properties. */
export const fieldsSchema = z
  .union([
    fieldList,
    z.looseObject({
      fields: fieldList.optional(),
      validation: z
        .looseObject({ jsonSchema: z.record(z.string(), z.unknown()).optional() })
        .optional()
        .describe('`jsonSchema`: what the answers must match'),
    }),
  ])
  .describe('what to ask: a list of fields, or `{ fields, validation: { jsonSchema } }`');

export const documentRequest = z
  .strictObject({
    displayName: name,
    fields: fieldsSchema.default([]),
    bodyTemplate: storedText(MAX_BODY_CHARS).describe('Liquid; sees `answers`, `extras` and each answer by its name'),
    helpMarkdown: storedText(MAX_HELP_CHARS).optional(),
    isEnabled: z.boolean().default(true),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'DocumentTemplateRequest' });

export const documentSummarySchema = z
  .object({
    templateSetId: z.string(),
    team: z.string(),
    isGlobal: z.boolean(),
    id: z.string(),
    version: z.int(),
    displayName: z.string(),
    isEnabled: z.boolean(),
    createdAt: timestamp,
  })
  .meta({ id: 'DocumentTemplateSummary' });

export const documentSchema = documentSummarySchema
  .extend({ fields: z.unknown(), bodyTemplate: z.string(), helpMarkdown: z.string().optional() })
  .meta({ id: 'DocumentTemplate' });

export const documentPatch = z.strictObject({ isEnabled: z.boolean(), tenantId: tenantId.optional() });

const version = queryNumber(1, MAX_VERSION).optional().describe('by default the newest that is enabled');

export const versionQuery = z.object({ version });
export const loneQuery = z.object({
  version,
  set: templateSetId.optional().describe('where several sets have this id'),
});

export const documentListQuery = z.object({
  team: team.optional(),
  set: templateSetId.optional(),
  ...pageQuery,
});

export const setListQuery = z.object({ team: team.optional(), ...pageQuery });

export const documentVersionsQuery = z.object({
  limit: pageQuery.limit,
  cursor: queryNumber(1, MAX_VERSION).optional(),
});

/** Any JSON. Not `z.json()`, because client generators cannot follow a recursive schema. */
const values = z.record(z.string(), z.unknown() as unknown as z.ZodType<Json, Json>);

export const renderRequest = z
  .strictObject({
    answers: values.default({}).describe('by the keys of `fields`'),
    extras: values.optional(),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'RenderRequest' });

export const renderAnswer = z.object({ renderedBody: z.string() }).meta({ id: 'RenderedDocument' });

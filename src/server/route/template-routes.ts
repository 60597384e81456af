// Document templates: sets, documents in versions, rendering. A document is addressed by its set and its id, or by
// its id alone where only one set has it.

import type { Json, JsonObject } from '../../core/json/json.ts';
import { pageOf } from '../../protocol/page.ts';
import {
  documentListQuery,
  documentParams,
  documentPatch,
  documentRequest,
  documentSchema,
  documentSummarySchema,
  documentVersionParams,
  documentVersionsQuery,
  loneDocumentParams,
  loneQuery,
  renderAnswer,
  renderRequest,
  setListQuery,
  setParams,
  setRequest,
  setSchema,
  versionQuery,
} from '../../protocol/template.ts';
import type { Actor } from '../../store/audit-port.ts';
import type { Author, DocumentRef } from '../../template/document-templates.ts';
import type { Caller } from '../caller.ts';
import { cursorAfter, page, placeOf } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { presentDocument, presentDocumentSummary, presentSet } from '../present/template.ts';
import { type Answer, defineRoute, type RouteSpec } from '../route.ts';

const PATH = '/api/v1/templates';
const MAX_VERSION = 2 ** 31 - 1;
const reading = { access: 'templates:read', tag: 'Document templates', notFound: 'WFENG004' } as const;
const managing = { ...reading, access: 'templates:manage' } as const;
const ofSet = { notFound: 'TEMPLATE_SET_NOT_FOUND', params: setParams } as const;

export function templateRoutes({ documents }: Pick<RouteParts, 'documents'>): RouteSpec[] {
  const shown = async (caller: Caller, ref: DocumentRef): Promise<Answer> => {
    return { status: 200, body: presentDocument(await documents.get(caller.tenantId, ref)) };
  };
  const getting = { ...reading, method: 'GET', responses: { 200: documentSchema } } as const;
  const rendered = async (
    caller: Caller,
    ref: DocumentRef,
    input: { answers: JsonObject; extras?: JsonObject | undefined },
    signal: AbortSignal,
  ): Promise<Answer> => {
    const { body } = await documents.render(caller.tenantId, ref, input, signal);
    return { status: 200, body: { renderedBody: body } };
  };
  const rendering = { ...reading, method: 'POST', body: renderRequest, responses: { 200: renderAnswer } } as const;
  return [
    defineRoute({
      ...reading,
      method: 'GET',
      path: `${PATH}/sets`,
      summary: 'List sets of document templates: your own and the shared ones',
      query: setListQuery,
      responses: { 200: pageOf(setSchema) },
      handle: ({ query: { team = null, limit, cursor }, caller }) =>
        page(
          limit,
          (limit) => documents.sets(caller.tenantId, team, { afterId: placeOf(cursor), limit }),
          ({ templateSetId }) => cursorAfter(templateSetId),
          (sets) => sets.map(presentSet),
        ),
    }),
    defineRoute({
      ...reading,
      ...ofSet,
      method: 'GET',
      path: `${PATH}/sets/:templateSetId`,
      summary: 'One set of document templates',
      responses: { 200: setSchema },
      async handle({ params, caller }) {
        return { status: 200, body: presentSet(await documents.set(caller.tenantId, params.templateSetId)) };
      },
    }),
    defineRoute({
      ...managing,
      ...ofSet,
      method: 'PUT',
      path: `${PATH}/sets/:templateSetId`,
      summary: 'Create or change a set of document templates',
      body: setRequest,
      onlyShown: ['id', 'createdAt', 'updatedAt'],
      responses: { 200: setSchema, 201: setSchema },
      async handle({ params, body: { tenantId: _checked, ...content }, caller, by }) {
        const { set, created } = await documents.putSet(authorOf(caller, by), params.templateSetId, content);
        return { status: created ? 201 : 200, body: presentSet(set) };
      },
    }),
    defineRoute({
      ...reading,
      method: 'GET',
      path: PATH,
      summary: 'List document templates, each in its newest enabled version',
      query: documentListQuery,
      responses: { 200: pageOf(documentSummarySchema) },
      async handle({ query: { team = null, set = null, limit, cursor }, caller }) {
        const [templateSetId = '', templateId = ''] = placeOf(cursor).split('.');
        const after = { templateSetId, templateId };
        return page(
          limit,
          (limit) => documents.list(caller.tenantId, { team, templateSetId: set }, { after, limit }),
          (last) => cursorAfter(`${last.templateSetId}.${last.templateId}`),
          (found) => found.map(presentDocumentSummary),
        );
      },
    }),

    /** With the set in the address, or without. */
    defineRoute({
      ...getting,
      path: `${PATH}/:templateSetId/:templateId`,
      summary: 'A document template with its fields and body',
      params: documentParams,
      query: versionQuery,
      handle: async ({ params, query, caller }) => shown(caller, { ...params, ...query }),
    }),
    defineRoute({
      ...getting,
      path: `${PATH}/:templateId`,
      summary: 'The same by its id alone; 409 when several sets have it',
      params: loneDocumentParams,
      query: loneQuery,
      handle: async ({ params: { templateId }, query: { set: templateSetId, version }, caller }) =>
        shown(caller, { templateId, templateSetId, version }),
    }),
    defineRoute({
      ...rendering,
      path: `${PATH}/:templateSetId/:templateId/render`,
      summary: 'Render a document',
      params: documentParams,
      query: versionQuery,
      handle: async ({ params, query, body, caller, signal }) =>
        rendered(caller, { ...params, ...query }, body, signal),
    }),
    defineRoute({
      ...rendering,
      path: `${PATH}/:templateId/render`,
      summary: 'The same by its id alone; 409 when several sets have it',
      params: loneDocumentParams,
      query: loneQuery,
      handle: async ({ params: { templateId }, query: { set: templateSetId, version }, body, caller, signal }) =>
        rendered(caller, { templateId, templateSetId, version }, body, signal),
    }),
    defineRoute({
      ...managing,
      method: 'POST',
      path: `${PATH}/:templateSetId/:templateId`,
      summary: 'Add a document template, or a new version of one',
      params: documentParams,
      body: documentRequest,
      responses: { 201: documentSchema },
      async handle({ params, body: { tenantId: _checked, fields, ...content }, caller, by }) {
        const added = await documents.add(authorOf(caller, by), params, { ...content, fields: fields as Json });
        return { status: 201, body: presentDocument(added) };
      },
    }),
    defineRoute({
      ...reading,
      method: 'GET',
      path: `${PATH}/:templateSetId/:templateId/versions`,
      summary: 'The versions of a document template, newest first',
      params: documentParams,
      query: documentVersionsQuery,
      responses: { 200: pageOf(documentSummarySchema) },
      handle: ({ params, query: { limit, cursor }, caller }) =>
        page(
          limit,
          (limit) => documents.versions(caller.tenantId, params, { before: cursor ?? MAX_VERSION, limit }),
          ({ version }) => String(version),
          (versions) => versions.map(presentDocumentSummary),
        ),
    }),
    defineRoute({
      ...managing,
      method: 'PATCH',
      path: `${PATH}/:templateSetId/:templateId/versions/:version`,
      summary: 'Enable or disable a version; its content never changes',
      params: documentVersionParams,
      body: documentPatch,
      responses: { 200: documentSchema },
      async handle({ params, body, caller, by }) {
        return {
          status: 200,
          body: presentDocument(await documents.setEnabled(authorOf(caller, by), params, body.isEnabled)),
        };
      },
    }),
  ];
}

const authorOf = ({ tenantId, scopes, roles }: Caller, by: Actor): Author => ({
  tenantId,
  isSystem: scopes.has('admin') && roles.has('System'),
  by,
});

// Templates: versioned documents, and workflows to create workflows from.

import type {
  DocumentRequest,
  DocumentSummaryJson,
  DocumentTemplateJson,
  InstantiateJson,
  InstantiateRequest,
  Page,
  RenderJson,
  RenderRequest,
  TemplateSetJson,
  TemplateSetRequest,
  WorkflowTemplateContent,
  WorkflowTemplateJson,
  WorkflowTemplateRequest,
  WorkflowTemplateSummaryJson,
} from '../protocol/answer.ts';
import { part, type Transport } from './transport.ts';
import type { PageQuery } from './workflows.ts';

/** With its set, or by id alone where only one set has it. */
export type DocumentRef = string | { readonly set: string; readonly id: string };

/** Without a version: the newest enabled one. */
export interface VersionQuery {
  readonly version?: number;
}

const BASE = '/api/v1/templates';
const SETS = `${BASE}/sets`;
const WORKFLOWS = `${BASE}/workflows`;

export class DocumentTemplatesApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  sets(query: PageQuery & { readonly team?: string } = {}): Promise<Page<TemplateSetJson>> {
    return this.transport.get(SETS, { ...query });
  }

  set(id: string): Promise<TemplateSetJson> {
    return this.transport.get(`${SETS}/${part(id)}`);
  }

  putSet(id: string, request: TemplateSetRequest): Promise<TemplateSetJson> {
    return this.transport.ask('PUT', `${SETS}/${part(id)}`, { body: request });
  }

  list(query: PageQuery & { readonly team?: string; readonly set?: string } = {}): Promise<Page<DocumentSummaryJson>> {
    return this.transport.get(BASE, { ...query });
  }

  get(ref: DocumentRef, query: VersionQuery = {}): Promise<DocumentTemplateJson> {
    return this.transport.get(document(ref), { ...query });
  }

  /** Creates a document or a new version of one. Existing versions stay. */
  add(set: string, id: string, request: DocumentRequest): Promise<DocumentTemplateJson> {
    return this.transport.ask('POST', document({ set, id }), { body: request });
  }

  versions(set: string, id: string, query: PageQuery = {}): Promise<Page<DocumentSummaryJson>> {
    return this.transport.get(`${document({ set, id })}/versions`, { ...query });
  }

  setVersionEnabled(set: string, id: string, version: number, isEnabled: boolean): Promise<DocumentTemplateJson> {
    return this.transport.ask('PATCH', `${document({ set, id })}/versions/${version}`, { body: { isEnabled } });
  }

  /** Changes nothing, so it can be repeated. */
  render(ref: DocumentRef, request: RenderRequest = {}, query: VersionQuery = {}): Promise<RenderJson> {
    return this.transport.ask('POST', `${document(ref)}/render`, {
      body: request,
      query: { ...query },
      repeatable: true,
    });
  }
}

function document(ref: DocumentRef): string {
  return typeof ref === 'string' ? `${BASE}/${part(ref)}` : `${BASE}/${part(ref.set)}/${part(ref.id)}`;
}

export class WorkflowTemplatesApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  list(
    query: PageQuery & { readonly category?: string; readonly isOfficial?: boolean; readonly search?: string } = {},
  ): Promise<Page<WorkflowTemplateSummaryJson>> {
    return this.transport.get(WORKFLOWS, { ...query });
  }

  get(id: string): Promise<WorkflowTemplateJson> {
    return this.transport.get(workflowTemplate(id));
  }

  create(request: WorkflowTemplateRequest): Promise<WorkflowTemplateJson> {
    return this.transport.ask('POST', WORKFLOWS, { body: request });
  }

  replace(id: string, content: WorkflowTemplateContent): Promise<WorkflowTemplateJson> {
    return this.transport.ask('PUT', workflowTemplate(id), { body: content });
  }

  /** Workflows that were created from it stay. */
  async delete(id: string): Promise<void> {
    await this.transport.ask('DELETE', workflowTemplate(id));
  }

  /** Creates a draft to review and publish. */
  instantiate(id: string, request: InstantiateRequest): Promise<InstantiateJson> {
    return this.transport.ask('POST', `${workflowTemplate(id)}/instantiate`, { body: request });
  }
}

const workflowTemplate = (id: string): string => `${WORKFLOWS}/${part(id)}`;

// Templates in the database: versioned documents, and workflows to start from. Part of the storage port (port.ts). A template
// without a tenant is global and read-only for tenants; a tenant's own with the same id hides it. Nothing else of another tenant
// is ever visible (S1).

import type { JsonText, Timestamp } from './port.ts';

export interface TemplateSet {
  templateSetId: string;
  displayName: string;
  team: string;
  /** Of no tenant: everyone's. */
  isGlobal: boolean;
  isEnabled: boolean;
  createdAt: Timestamp;
  updatedAt: Timestamp;
}

export interface DocumentSummary {
  templateSetId: string;
  team: string;
  isGlobal: boolean;
  templateId: string;
  version: number;
  displayName: string;
  isEnabled: boolean;
  createdAt: Timestamp;
}

export interface DocumentTemplate extends DocumentSummary {
  setEnabled: boolean;
  fields: JsonText;
  bodyTemplate: string;
  helpMarkdown: string | null;
}

export interface DocumentKey {
  tenantId: string;
  templateSetId: string;
  templateId: string;
}

export interface NewDocument {
  /** Whose set: null for everyone's. */
  tenantId: string | null;
  templateSetId: string;
  templateId: string;
  displayName: string;
  fields: JsonText;
  bodyTemplate: string;
  helpMarkdown: string | null;
  isEnabled: boolean;
}

export interface WorkflowTemplateSummary {
  templateId: string;
  /** The tenant's own: it may be changed. */
  isOwn: boolean;
  displayName: string;
  description: string;
  category: string;
  thumbnailUrl: string | null;
  author: string | null;
  isOfficial: boolean;
  tags: string[];
  createdAt: Timestamp;
  updatedAt: Timestamp;
}

export interface WorkflowTemplate extends WorkflowTemplateSummary {
  definition: JsonText;
  configSchema: JsonText;
}

export interface NewWorkflowTemplate {
  templateId: string;
  displayName: string;
  description: string;
  category: string;
  definition: JsonText;
  configSchema: JsonText;
  thumbnailUrl: string | null;
  author: string | null;
  tags: string[];
}

export interface WorkflowTemplateFilter {
  tenantId: string;
  category: string | null;
  isOfficial: boolean | null;
  /** In the id, the display name, the description or the tags, whatever the case. */
  search: string | null;
}

export interface TemplateStore {
  /** Creates or changes a set; null in `tenantId` is everyone's. An undefined `isEnabled` stays as it is, or is true. */
  templateSetPut(params: {
    tenantId: string | null;
    templateSetId: string;
    displayName: string;
    team: string;
    isEnabled: boolean | null;
  }): Promise<{ set: TemplateSet; created: boolean }>;
  templateSetGet(params: { tenantId: string; templateSetId: string }): Promise<TemplateSet | null>;
  /** By id, those after `afterId`. */
  templateSetList(params: {
    tenantId: string;
    team: string | null;
    afterId: string;
    limit: number;
  }): Promise<TemplateSet[]>;

  /** As the next version. null: there is no such set. */
  documentAdd(params: NewDocument): Promise<{ version: number } | null>;
  /**
   * In each set that the tenant sees and that has it: the wanted version, or the newest enabled one, or the newest of all.
   * `templateSetId` null: in any set.
   */
  documentFind(params: {
    tenantId: string;
    templateSetId: string | null;
    templateId: string;
    version: number | null;
  }): Promise<DocumentTemplate[]>;
  /** The newest enabled version of each, by set and id, those after `after`. */
  documentList(params: {
    tenantId: string;
    team: string | null;
    templateSetId: string | null;
    after: { templateSetId: string; templateId: string };
    limit: number;
  }): Promise<DocumentSummary[]>;
  /** Newest first, those before `before`. */
  documentVersions(params: DocumentKey & { before: number; limit: number }): Promise<DocumentSummary[]>;
  /** False: there is no such version in a set of this owner. */
  documentEnable(params: {
    tenantId: string | null;
    templateSetId: string;
    templateId: string;
    version: number;
    isEnabled: boolean;
  }): Promise<boolean>;

  /** False: the tenant has one of this id. */
  workflowTemplateAdd(params: NewWorkflowTemplate & { tenantId: string }): Promise<boolean>;
  /** False: the tenant has none of this id. */
  workflowTemplateReplace(params: NewWorkflowTemplate & { tenantId: string }): Promise<boolean>;
  workflowTemplateDelete(params: { tenantId: string; templateId: string }): Promise<boolean>;
  workflowTemplateGet(params: { tenantId: string; templateId: string }): Promise<WorkflowTemplate | null>;
  /** By id, those after `afterId`. */
  workflowTemplateList(
    params: WorkflowTemplateFilter & { afterId: string; limit: number },
  ): Promise<WorkflowTemplateSummary[]>;
  /** The official ones, as they are shipped: what is new or different is written, the rest is left alone. */
  workflowTemplateSeed(params: { templates: NewWorkflowTemplate[] }): Promise<void>;

  /** Ids of live workflows that are `base`, or `base`, a hyphen and a number. */
  workflowNamesLike(params: { tenantId: string; base: string }): Promise<string[]>;
}

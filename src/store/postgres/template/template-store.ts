// Templates on PostgreSQL. Only people and the rendering of a document ask for them, so all of it uses the readers' pool.

import type {
  DocumentSummary,
  DocumentTemplate,
  NewWorkflowTemplate,
  TemplateSet,
  TemplateStore,
  WorkflowTemplate,
  WorkflowTemplateSummary,
} from '../../template-port.ts';
import type { Database } from '../database.ts';
import { patternOf } from '../like-pattern.ts';
import { statement } from '../statement.ts';

const PUT_SET = statement('template_set_put');
const GET_SET = statement('template_set_get');
const LIST_SETS = statement('template_set_list');
const LOCK_SET = statement('template_set_lock');
const ADD_DOCUMENT = statement('document_add');
const FIND_DOCUMENT = statement('document_find');
const LIST_DOCUMENTS = statement('document_list');
const LIST_VERSIONS = statement('document_versions');
const ENABLE_DOCUMENT = statement('document_enable');
const ADD = statement('workflow_template_add');
const REPLACE = statement('workflow_template_replace');
const REMOVE = statement('workflow_template_remove');
const GET = statement('workflow_template_get');
const LIST = statement('workflow_template_list');
const SEED = statement('workflow_template_seed');
const NAMES_LIKE = statement('workflow_names_like');

export function templateStore(database: Database): TemplateStore {
  return { ...documentStore(database), ...workflowTemplateStore(database) };
}

type Part<Prefix extends string> = Pick<TemplateStore, Extract<keyof TemplateStore, `${Prefix}${string}`>>;

function documentStore(database: Database): Part<'templateSet' | 'document'> {
  return {
    async templateSetPut({ tenantId, templateSetId, displayName, team, isEnabled }) {
      const values = [tenantId, templateSetId, displayName, team, isEnabled];
      const [put] = await database.run<SetRow & { created: boolean }>(PUT_SET, values);
      const { created, ...row } = put!;
      return { set: templateSet(row), created };
    },
    async templateSetGet({ tenantId, templateSetId }) {
      const [row] = await database.run<SetRow>(GET_SET, [tenantId, templateSetId]);
      return row === undefined ? null : templateSet(row);
    },
    templateSetList: async ({ tenantId, afterId, team, limit }) =>
      (await database.run<SetRow>(LIST_SETS, [tenantId, afterId, team, limit])).map(templateSet),

    documentAdd: (document) =>
      database.transaction(async (session) => {
        const { tenantId, templateSetId, templateId, displayName, fields, bodyTemplate, helpMarkdown } = document;
        const [set] = await session.run<{ uid: string }>(LOCK_SET, [tenantId, templateSetId]);
        if (set === undefined) return null;
        const values = [templateId, displayName, fields, bodyTemplate, helpMarkdown, document.isEnabled];
        const [added] = await session.run<{ version: number }>(ADD_DOCUMENT, [set.uid, ...values]);
        return added!;
      }),
    async documentFind({ tenantId, templateSetId, templateId, version }) {
      const values = [tenantId, templateSetId, templateId, version];
      return database.run<DocumentTemplate>(FIND_DOCUMENT, values);
    },
    async documentList({ tenantId, team, templateSetId, after, limit }) {
      const values = [tenantId, team, templateSetId, after.templateSetId, after.templateId, limit];
      return database.run<DocumentSummary>(LIST_DOCUMENTS, values);
    },
    async documentVersions({ tenantId, templateSetId, templateId, before, limit }) {
      const values = [tenantId, templateSetId, templateId, before, limit];
      return database.run<DocumentSummary>(LIST_VERSIONS, values);
    },
    async documentEnable({ tenantId, templateSetId, templateId, version, isEnabled }) {
      const values = [tenantId, templateSetId, templateId, version, isEnabled];
      return (await database.run(ENABLE_DOCUMENT, values)).length > 0;
    },
  };
}

function workflowTemplateStore(database: Database): Part<'workflow'> {
  return {
    workflowNamesLike: async ({ tenantId, base }) =>
      (await database.run<{ id: string }>(NAMES_LIKE, [tenantId, base])).map(({ id }) => id),
    workflowTemplateAdd: async ({ tenantId, ...template }) =>
      (await database.run(ADD, [tenantId, ...templateValues(template)])).length > 0,
    workflowTemplateReplace: async ({ tenantId, ...template }) =>
      (await database.run(REPLACE, [tenantId, ...templateValues(template)])).length > 0,
    workflowTemplateDelete: async ({ tenantId, templateId }) =>
      (await database.run(REMOVE, [tenantId, templateId])).length > 0,
    async workflowTemplateGet({ tenantId, templateId }) {
      const [row] = await database.run<WorkflowTemplate>(GET, [tenantId, templateId]);
      return row ?? null;
    },
    async workflowTemplateList({ tenantId, afterId, category, isOfficial, search, limit }) {
      const values = [tenantId, afterId, category, isOfficial, patternOf(search), limit];
      return database.run<WorkflowTemplateSummary>(LIST, values);
    },
    async workflowTemplateSeed({ templates }) {
      // In the order of their ids, so that processes that start together wait for each other instead of for ever.
      const inOrder = templates.toSorted((left, right) => (left.templateId < right.templateId ? -1 : 1));
      for (const template of inOrder) await database.run(SEED, templateValues(template));
    },
  };
}

function templateValues(template: NewWorkflowTemplate): unknown[] {
  const { templateId, displayName, description, category, definition, configSchema } = template;
  const { thumbnailUrl, author, tags } = template;
  return [templateId, displayName, description, category, definition, configSchema, thumbnailUrl, author, tags];
}

const templateSet = ({ id, tenantId, ...row }: SetRow): TemplateSet => ({
  ...row,
  templateSetId: id,
  isGlobal: tenantId === null,
});

type SetRow = Omit<TemplateSet, 'templateSetId' | 'isGlobal'> & { id: string; tenantId: string | null };

// Document templates: sets, their documents in immutable versions, and rendering. A tenant sees its own sets and the global ones,
// which only the role System may change (S1).

import type { DocumentRenderer } from '../action/document-renderer.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import { below, templateRefusal } from '../core/problem/template-refusal.ts';
import { type Actor, type AuditStore, EVERY_TENANT, SYSTEM } from '../store/audit-port.ts';
import type { DocumentSummary, DocumentTemplate, TemplateSet, TemplateStore } from '../store/template-port.ts';
import { answersSchemaOf, missingAnswers, SCHEMA_PATH } from './document-fields.ts';

export interface DocumentTemplatesDeps {
  readonly store: TemplateStore & Pick<AuditStore, 'audited'>;
  readonly renderer: DocumentRenderer;
}

/** Without `templateSetId`: in any set. Without `version`: the newest enabled one. */
export interface DocumentRef {
  readonly templateSetId?: string | undefined;
  readonly templateId: string;
  readonly version?: number | undefined;
}

export interface SetContent {
  readonly displayName: string;
  readonly team: string;
  readonly isEnabled?: boolean | undefined;
  readonly isGlobal?: boolean | undefined;
}

export interface DocumentContent {
  readonly displayName: string;
  readonly fields: Json;
  readonly bodyTemplate: string;
  readonly helpMarkdown?: string | undefined;
  readonly isEnabled: boolean;
}

export interface DocumentInput {
  readonly answers: JsonObject;
  readonly extras?: JsonObject | undefined;
}

/** The author of a change. `isSystem` may also change global templates. */
export interface Author {
  readonly tenantId: string;
  readonly isSystem: boolean;
  readonly by?: Actor;
}

interface DocumentKey {
  readonly templateSetId: string;
  readonly templateId: string;
}

export class DocumentTemplates {
  private readonly store: DocumentTemplatesDeps['store'];
  private readonly renderer: DocumentRenderer;

  constructor({ store, renderer }: DocumentTemplatesDeps) {
    this.store = store;
    this.renderer = renderer;
  }

  // ── Sets ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  putSet(author: Author, templateSetId: string, content: SetContent): Promise<{ set: TemplateSet; created: boolean }> {
    const { displayName, team, isEnabled = null, isGlobal = false } = content;
    const tenantId = ownerOf(author, isGlobal, templateSetId);
    const put = { tenantId, templateSetId, displayName, team, isEnabled };
    return this.change(author, tenantId, 'set', templateSetId, (store) => store.templateSetPut(put));
  }

  async set(tenantId: string, templateSetId: string): Promise<TemplateSet> {
    const set = await this.store.templateSetGet({ tenantId, templateSetId });
    if (set === null) throw new PawlError('TEMPLATE_SET_NOT_FOUND', `no set "${templateSetId}"`);
    return set;
  }

  sets(tenantId: string, team: string | null, page: { afterId: string; limit: number }): Promise<TemplateSet[]> {
    return this.store.templateSetList({ tenantId, team, ...page });
  }

  // ── Documents ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Creates the next version, if its body and schema are valid. */
  async add(author: Author, key: DocumentKey, content: DocumentContent): Promise<DocumentTemplate> {
    const { tenantId } = author;
    const { isGlobal } = await this.set(tenantId, key.templateSetId);
    const owner = ownerOf(author, isGlobal, key.templateSetId);
    const problems = await this.contentProblems(tenantId, content);
    if (problems.length > 0) throw templateRefusal('the template is not valid', problems);
    const { displayName, bodyTemplate, helpMarkdown = null, isEnabled } = content;
    const fields = JSON.stringify(content.fields);
    const document = { ...key, displayName, fields, bodyTemplate, helpMarkdown, isEnabled };
    const name = `${key.templateSetId}/${key.templateId}`;
    const added = await this.change(author, owner, 'add', name, (store) =>
      store.documentAdd({ tenantId: owner, ...document }),
    );
    if (added === null) throw new PawlError('TEMPLATE_SET_NOT_FOUND', `no set "${key.templateSetId}"`);
    return this.get(tenantId, { ...key, version: added.version });
  }

  private async contentProblems(tenantId: string, { fields, bodyTemplate }: DocumentContent): Promise<Problem[]> {
    const schema = answersSchemaOf(fields);
    const [ofBody, ofSchema] = await Promise.all([
      this.renderer.checkBody(bodyTemplate, { tenantId }),
      schema === null ? [] : this.renderer.checkSchema(schema, { tenantId }),
    ]);
    return [...below('/bodyTemplate', ofBody), ...below(SCHEMA_PATH, ofSchema)];
  }

  /** A version asked for by number is shown even when it is disabled. */
  async get(tenantId: string, ref: DocumentRef): Promise<DocumentTemplate> {
    const document = await this.find(tenantId, ref);
    if (ref.version === undefined && !isUsable(document)) throw notFound(ref, 'has no enabled version');
    return document;
  }

  list(
    tenantId: string,
    filter: { team: string | null; templateSetId: string | null },
    page: { after: { templateSetId: string; templateId: string }; limit: number },
  ): Promise<DocumentSummary[]> {
    return this.store.documentList({ tenantId, ...filter, ...page });
  }

  async versions(
    tenantId: string,
    key: DocumentKey,
    page: { before: number; limit: number },
  ): Promise<DocumentSummary[]> {
    await this.find(tenantId, key);
    return this.store.documentVersions({ tenantId, ...key, ...page });
  }

  async setEnabled(
    author: Author,
    key: DocumentKey & { version: number },
    isEnabled: boolean,
  ): Promise<DocumentTemplate> {
    const { isGlobal } = await this.find(author.tenantId, key);
    const tenantId = ownerOf(author, isGlobal, key.templateSetId);
    const name = `${key.templateSetId}/${key.templateId}/${key.version}`;
    const happened = await this.change(author, tenantId, isEnabled ? 'enable' : 'disable', name, (store) =>
      store.documentEnable({ tenantId, ...key, isEnabled }),
    );
    if (!happened) throw notFound(key);
    return this.get(author.tenantId, key);
  }

  /** Audited when it happened, i.e. when the answer is neither null nor false. */
  private change<Result>(
    { by = SYSTEM }: Author,
    owner: string | null,
    action: string,
    name: string,
    work: (store: TemplateStore) => Promise<Result>,
  ): Promise<Result> {
    const deed = { action: `template.${action}`, target: `template/${name}` };
    const happened = (result: Result) => result !== null && result !== false;
    return this.store.audited({
      tenantId: owner ?? EVERY_TENANT,
      by,
      work,
      deed: (result) => (happened(result) ? deed : null),
    });
  }

  // ── Rendering ─────────────────────────────────────────────────────────────────────────────────────────────────────

  async render(
    tenantId: string,
    ref: DocumentRef,
    { answers, extras = {} }: DocumentInput,
    signal?: AbortSignal,
  ): Promise<{ body: string; templateSetId: string; templateId: string; version: number; displayName: string }> {
    const document = await this.find(tenantId, ref);
    if (!isUsable(document)) throw notFound(ref, 'is disabled');
    const { templateSetId, templateId, version, displayName, bodyTemplate } = document;
    const fields = JSON.parse(document.fields) as Json;
    const missing = missingAnswers(fields, answers);
    if (missing.length > 0) throw templateRefusal('the answers are not valid', missing);
    const body = await this.renderer
      .render({ body: bodyTemplate, answersSchema: answersSchemaOf(fields), answers, extras }, { tenantId, signal })
      .catch((error: unknown) => {
        throw located(error);
      });
    return { body, templateSetId, templateId, version, displayName };
  }

  private async find(tenantId: string, ref: DocumentRef): Promise<DocumentTemplate> {
    const { templateSetId = null, templateId, version = null } = ref;
    const found = await this.store.documentFind({ tenantId, templateSetId, templateId, version });
    const usable = found.filter(isUsable);
    const candidates = usable.length > 0 ? usable : found;
    const [document] = candidates;
    if (document === undefined) throw notFound(ref);
    if (candidates.length === 1) return document;
    const sets = candidates.map((candidate) => candidate.templateSetId).sort();
    const message = `"${templateId}" is in several sets (${sets.join(', ')}): say which with ?set=`;
    throw new PawlError('TEMPLATE_AMBIGUOUS', message, { sets });
  }
}

const isUsable = ({ isEnabled, setEnabled }: DocumentTemplate): boolean => isEnabled && setEnabled;

/** A global template has no tenant. */
function ownerOf({ tenantId, isSystem }: Author, isGlobal: boolean, templateSetId: string): string | null {
  if (!isGlobal) return tenantId;
  if (isSystem) return null;
  throw new PawlError(
    'FORBIDDEN',
    `the set "${templateSetId}" is every tenant's: this needs the scope \`admin\` and the role \`System\``,
  );
}

function notFound({ templateSetId, templateId, version }: DocumentRef, why = 'does not exist'): PawlError {
  const place = templateSetId === undefined ? '' : ` of set "${templateSetId}"`;
  const which = version === undefined ? '' : `, version ${version},`;
  return new PawlError('WFENG004', `the document template "${templateId}"${place}${which} ${why}`);
}

/** Adds paths: the renderer does not know where its parts came from. */
function located(error: unknown): unknown {
  if (!(error instanceof PawlError) || !Array.isArray(error.details)) return error;
  const base = error.code === 'WFENG005' ? '/answers' : '/bodyTemplate';
  return new PawlError(error.code, error.message, below(base, error.details as Problem[]));
}

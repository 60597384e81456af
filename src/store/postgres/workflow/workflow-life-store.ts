// The life of a workflow on PostgreSQL, one transaction per change. A change that assigns a version locks the workflow's row
// first, in its own statement, so that the next one sees the commits before it.

import { PawlError } from '../../../core/error/pawl-error.ts';
import type { Timestamp, WorkflowStore } from '../../port.ts';
import type {
  DraftPublication,
  NewDefinition,
  NewPipeline,
  PipelineRename,
  PlanPublication,
  VersionRow,
  WorkflowLifeStore,
  WorkflowRecord,
  WorkflowRef,
  WorkflowStanding,
  WorkflowStatus,
} from '../../workflow-port.ts';
import type { Database, Session } from '../database.ts';
import { requireWorkflowRoom } from '../quota/quota-store.ts';
import { statement } from '../statement.ts';
import { workflowRunStore } from './workflow-run-store.ts';

const REVIVE = statement('workflow_revive');
const ADD = statement('workflow_add');
const LOCK = statement('workflow_lock');
const FIND_PLAN = statement('plan_find');
const SAVE_DRAFT = statement('draft_save');
const OPEN_DRAFT = statement('draft_open');
const DROP_DRAFT = statement('draft_drop');
const GET_DRAFT = statement('draft_get');
const SNAPSHOT_DRAFT = statement('draft_snapshot');
const ADD_DEFINITION = statement('definition_add');
const ADD_DRAFT_DEFINITION = statement('definition_add_draft');
const FIND_DEFINITION = statement('definition_find');
const ACTIVATE = statement('workflow_activate');
const ARCHIVE = statement('workflow_archive');
const REACTIVATE = statement('workflow_reactivate');
const ENABLE = statement('workflow_enable');
const REMOVE = statement('workflow_remove');
const RETIRE = statement('workflow_retire');
const FIND = statement('workflow_find');
const LIST = statement('workflow_list');
const ACTIVITY = statement('workflow_activity');
const VERSIONS_LIVE = statement('versions_live');
const STANDINGS = statement('workflow_standings');
const GET_VERSION = statement('version_get');
const LIST_VERSIONS = statement('version_list');
const LEAVE_NAME = statement('pipeline_leave_name');
const TAKE_OVER = statement('pipeline_take_over');
const MOVE_TRIGGERS = statement('pipeline_triggers_move');
const DESCRIBE_PIPELINE = statement('pipeline_describe');
const DROP_TRIGGERS = statement('pipeline_trigger_drop');
const CHANGE_TRIGGER = statement('pipeline_trigger_change');
const ADD_TRIGGER = statement('pipeline_trigger_add');

export function workflowLifeStore(database: Database): WorkflowLifeStore {
  const happened = async (...[which, values]: Parameters<Database['run']>): Promise<boolean> =>
    (await database.run(which, values)).length > 0;

  return {
    workflowFind: ({ tenantId, ref }) => find(database, tenantId, ref),
    async workflowList({ tenantId, afterId, status, isEnabled, format, search, limit }) {
      const rows = await database.run<Row>(LIST, [tenantId, afterId, status, isEnabled, format, search, limit]);
      return rows.map(record);
    },

    ...workflowActivity(database),

    draftSave: (draft) => database.transaction((session) => saveDraft(session, draft)),
    draftCreate: (draft) => database.transaction((session) => take(session, draft)),
    draftOpen: ({ tenantId, workflowId }) => happened(OPEN_DRAFT, [tenantId, workflowId]),
    draftDrop: ({ tenantId, workflowId }) => happened(DROP_DRAFT, [tenantId, workflowId]),
    async draftGet({ tenantId, workflowId }) {
      const [row] = await database.run<VersionRecord>(GET_DRAFT, [tenantId, workflowId]);
      return row === undefined ? null : versionRow(row);
    },
    draftPublish: (params) => database.transaction((session) => publishDraft(session, params)),
    draftSnapshot: ({ tenantId, workflowId }) =>
      database.transaction(async (session) => {
        await session.run(LOCK, [tenantId, workflowId]);
        const [row] = await session.run<{ version: number; format: string }>(SNAPSHOT_DRAFT, [tenantId, workflowId]);
        return row ?? null;
      }),

    workflowArchive: ({ tenantId, workflowId }) => happened(ARCHIVE, [tenantId, workflowId]),
    workflowReactivate: ({ tenantId, workflowId }) =>
      database.transaction(async (session) => {
        const isReactivated = (await session.run(REACTIVATE, [tenantId, workflowId])).length > 0;
        if (isReactivated) await requireWorkflowRoom(session, tenantId);
        return isReactivated;
      }),
    workflowEnable: ({ tenantId, workflowId, isEnabled }) => happened(ENABLE, [tenantId, workflowId, isEnabled]),
    workflowDelete: async ({ tenantId, workflowId }) =>
      (await happened(REMOVE, [tenantId, workflowId])) || (await happened(RETIRE, [tenantId, workflowId])),

    workflowStandings: ({ tenantId, wanted }) => {
      const values = [tenantId, wanted.map(({ workflowId }) => workflowId), wanted.map(({ version }) => version)];
      return database.run<WorkflowStanding>(STANDINGS, values);
    },

    async versionGet({ tenantId, workflowId, version }) {
      const [row] = await database.run<VersionRecord>(GET_VERSION, [tenantId, workflowId, version]);
      return row === undefined ? null : versionRow(row);
    },
    async versionList({ tenantId, workflowId, before, limit }) {
      const rows = await database.run<VersionRecord>(LIST_VERSIONS, [tenantId, workflowId, before, limit]);
      return rows.map(({ createdAt, ...row }) => ({ ...row, createdAt }));
    },

    async planFind({ tenantId, workflowId, checksum }) {
      const [found] = await database.run(FIND_PLAN, [tenantId, workflowId, checksum]);
      return (found as Awaited<ReturnType<WorkflowLifeStore['planFind']>> | undefined) ?? null;
    },
    planPublish: (plan) => database.transaction((session) => publishPlan(session, plan)),

    pipelineCreate: (pipeline) => database.transaction((session) => createPipeline(session, pipeline)),
    pipelineReplace: (pipeline) => database.transaction((session) => replacePipeline(session, pipeline)),
    pipelineRename: (params) => database.transaction((session) => renamePipeline(session, params)),

    ...workflowRunStore(database),
  };
}

/** A version that is live at once, whatever was there before: for files that are run, and for embedding programs. */
export const publishAtOnce = (database: Database): WorkflowStore['workflowPublish'] => {
  return (definition) =>
    database.transaction(async (session) => {
      const { uid } = await takeAndLock(session, definition);
      const { version, created } = await addDefinition(session, uid, definition);
      await activate(session, definition, version, true);
      return { version, created };
    });
};

// ── Drafts ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const workflowActivity = (database: Database): Pick<WorkflowLifeStore, 'workflowActivity' | 'versionsLive'> => ({
  async workflowActivity({ tenantId, workflowIds }) {
    const rows = await database.run<ActivityRow>(ACTIVITY, [tenantId, workflowIds]);
    return rows.map((row) => ({
      workflowId: row.workflowId,
      lastExecution:
        row.lastId === null
          ? null
          : { executionId: row.lastId, status: row.lastStatus!, createdAt: row.lastCreatedAt! },
      nextFireAt: row.nextFireAt,
    }));
  },
  async versionsLive({ tenantId, workflowId }) {
    const rows = await database.run<{ version: number; count: number }>(VERSIONS_LIVE, [tenantId, workflowId]);
    return new Map(rows.map(({ version, count }) => [version, count]));
  },
});

interface ActivityRow {
  workflowId: string;
  lastId: string | null;
  lastCreatedAt: Timestamp | null;
  lastStatus: string | null;
  nextFireAt: Timestamp | null;
}

async function saveDraft(
  session: Session,
  draft: NewDefinition & { ifChecksum?: string | null },
): Promise<{ workflow: WorkflowRecord; created: boolean } | null> {
  const created = await take(session, draft);
  const values = [...definitionValues(draft), draft.ifChecksum ?? null];
  if (!created && (await session.run(SAVE_DRAFT, values)).length === 0) return null;
  return { workflow: (await find(session, draft.tenantId, draft))!, created };
}

async function publishDraft(
  session: Session,
  params: Parameters<WorkflowLifeStore['draftPublish']>[0],
): Promise<DraftPublication | null> {
  const { tenantId, workflowId, checksum } = params;
  const locked = await lock(session, params);
  if (locked === null) return null;
  if (locked.status === 'Archived') return { outcome: 'archived' };
  if (locked.draftChecksum === null) {
    const { currentVersion: version, status, isEnabled } = locked;
    return { outcome: 'noDraft', version: version!, status, isEnabled };
  }
  if (locked.draftChecksum !== checksum) return { outcome: 'changed' };
  const added = await session.run(ADD_DRAFT_DEFINITION, [tenantId, workflowId]);
  const version = await versionOf(session, locked.uid, checksum);
  const created = added.length > 0;
  if (!params.activate) return { outcome: 'published', version, created, status: locked.status };
  await activate(session, { ...params, format: locked.format }, version, true);
  return { outcome: 'published', version, created, status: 'Active' };
}

// ── Plans ───────────────────────────────────────────────────────────────────────────────────────────────────────────

async function publishPlan(session: Session, plan: NewDefinition): Promise<PlanPublication> {
  const { uid, format, status, isEnabled, currentVersion: current } = await takeAndLock(session, plan);
  if (format !== plan.format) return { outcome: 'otherFormat', format };
  if (status === 'Archived') return { outcome: 'archived' };
  if (!isEnabled) return { outcome: 'disabled' };
  const { version } = await addDefinition(session, uid, plan);
  if (status === 'Active' && version === current) return { outcome: 'current', version };
  await activate(session, plan, version, true);
  return { outcome: 'published', version };
}

// ── Pipelines ───────────────────────────────────────────────────────────────────────────────────────────────────────

async function createPipeline(session: Session, pipeline: NewPipeline): Promise<WorkflowRecord | null> {
  return (await take(session, pipeline)) ? putPipeline(session, pipeline) : null;
}

async function replacePipeline(session: Session, pipeline: NewPipeline): Promise<WorkflowRecord | null> {
  const locked = await lock(session, pipeline);
  const isReplaceable = locked !== null && locked.format === 'pipeline' && locked.status !== 'Archived';
  return isReplaceable ? putPipeline(session, pipeline) : null;
}

async function renamePipeline(
  session: Session,
  { from, pipeline }: Parameters<WorkflowLifeStore['pipelineRename']>[0],
): Promise<PipelineRename> {
  const { tenantId, workflowId } = pipeline;
  const locked = await lock(session, { tenantId, workflowId: from });
  if (locked === null || locked.format !== 'pipeline' || locked.status === 'Archived') return { outcome: 'refused' };
  if ((await lock(session, pipeline)) !== null) return { outcome: 'taken' };
  await session.run(LEAVE_NAME, [tenantId, from]);
  // Somebody has taken the name since: this transaction is rolled back.
  if (!(await take(session, pipeline)))
    throw new PawlError('WORKFLOW_EXISTS', `a workflow "${workflowId}" exists already`);
  await session.run(TAKE_OVER, [tenantId, workflowId, locked.uid, from, locked.isEnabled]);
  await session.run(MOVE_TRIGGERS, [tenantId, workflowId, from]);
  return { outcome: 'renamed', record: await putPipeline(session, pipeline) };
}

async function putPipeline(session: Session, pipeline: NewPipeline): Promise<WorkflowRecord> {
  const { tenantId, workflowId, trigger, taskCount } = pipeline;
  const locked = (await lock(session, pipeline))!;
  const { version } = await addDefinition(session, locked.uid, pipeline);
  await activate(session, pipeline, version, pipeline.isEnabled ?? locked.isEnabled);
  await session.run(DESCRIBE_PIPELINE, [tenantId, workflowId, trigger.type, trigger.cronExpression, taskCount]);
  await syncTrigger(session, pipeline);
  return (await find(session, tenantId, pipeline))!;
}

const TRIGGER_TYPES = { api: null, cron: 'Schedule', webhook: 'Webhook' } as const;

async function syncTrigger(session: Session, pipeline: NewPipeline): Promise<void> {
  const { tenantId, workflowId, trigger, schedule, webhook, webhookSecret } = pipeline;
  const type = TRIGGER_TYPES[trigger.type];
  await session.run(DROP_TRIGGERS, [tenantId, workflowId, type]);
  if (type === null) return;
  const settings = type === 'Webhook' ? webhook : { cron: trigger.cronExpression, ...schedule };
  const values = [tenantId, workflowId, type, JSON.stringify(settings), webhookSecret];
  const changed = await session.run(CHANGE_TRIGGER, values);
  if (changed.length === 0) await session.run(ADD_TRIGGER, values);
}

// ── Steps of those transactions ─────────────────────────────────────────────────────────────────────────────────────

/** true: the name was free, and there is a Draft now. */
async function take(session: Session, definition: NewDefinition): Promise<boolean> {
  const values = definitionValues(definition);
  const isNew = (await session.run(ADD, values)).length > 0 || (await session.run(REVIVE, values)).length > 0;
  if (isNew) await requireWorkflowRoom(session, definition.tenantId);
  return isNew;
}

/** The row with this name: a new Draft, if it was free. */
async function takeAndLock(session: Session, definition: NewDefinition): Promise<LockedRecord> {
  await take(session, definition);
  // The row with this name was deleted in between.
  return (await lock(session, definition)) ?? takeAndLock(session, definition);
}

async function lock(session: Session, of: { tenantId: string; workflowId: string }): Promise<LockedRecord | null> {
  const [row] = await session.run<LockedRecord>(LOCK, [of.tenantId, of.workflowId]);
  return row ?? null;
}

async function addDefinition(
  session: Session,
  uid: string,
  { tenantId, workflowId, format, definition, checksum }: NewDefinition,
): Promise<{ version: number; created: boolean }> {
  const added = await session.run(ADD_DEFINITION, [tenantId, workflowId, uid, format, definition, checksum]);
  return { version: await versionOf(session, uid, checksum), created: added.length > 0 };
}

async function versionOf(session: Session, uid: string, checksum: string): Promise<number> {
  const [row] = await session.run<{ version: number }>(FIND_DEFINITION, [uid, checksum]);
  return row!.version;
}

async function activate(
  session: Session,
  definition: Omit<NewDefinition, 'definition'>,
  version: number,
  isEnabled: boolean,
): Promise<void> {
  const { tenantId, workflowId, displayName, description, format, checksum } = definition;
  const values = [tenantId, workflowId, version, displayName, description, isEnabled, format, checksum];
  await session.run(ACTIVATE, values);
}

async function find(session: Session, tenantId: string, ref: WorkflowRef): Promise<WorkflowRecord | null> {
  const values = 'uid' in ref ? [null, ref.uid] : [ref.workflowId, null];
  const [row] = await session.run<Row>(FIND, [tenantId, ...values]);
  return row === undefined ? null : record(row);
}

function definitionValues(definition: NewDefinition): unknown[] {
  const { tenantId, workflowId, displayName, description, format, definition: text, checksum } = definition;
  return [tenantId, workflowId, displayName, description, format, text, checksum];
}

// ── Rows ────────────────────────────────────────────────────────────────────────────────────────────────────────────

function record(row: Row): WorkflowRecord {
  return {
    uid: row.uid,
    workflowId: row.workflowId,
    displayName: row.displayName,
    description: row.description,
    format: row.format,
    status: row.status,
    isEnabled: row.isEnabled,
    currentVersion: row.currentVersion,
    hasDraft: row.hasDraft,
    pipeline:
      row.format !== 'pipeline'
        ? null
        : {
            trigger: { type: row.triggerType ?? 'api', cronExpression: row.cronExpression },
            taskCount: row.taskCount ?? 0,
            webhookTriggerId: row.webhookTriggerId,
          },
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

const versionRow = ({ createdAt, ...row }: VersionRecord): VersionRow => ({ ...row, createdAt });

interface Row {
  uid: string;
  workflowId: string;
  displayName: string;
  description: string | null;
  format: string;
  status: WorkflowStatus;
  isEnabled: boolean;
  currentVersion: number | null;
  hasDraft: boolean;
  triggerType: 'api' | 'cron' | 'webhook' | null;
  cronExpression: string | null;
  taskCount: number | null;
  webhookTriggerId: string | null;
  createdAt: number;
  updatedAt: number;
}

interface LockedRecord {
  uid: string;
  status: WorkflowStatus;
  isEnabled: boolean;
  currentVersion: number | null;
  draftChecksum: string | null;
  format: string;
}

interface VersionRecord {
  version: number;
  format: string;
  definition: string;
  checksum: string;
  createdAt: number;
}

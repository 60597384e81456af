-- The life of a workflow (000 §3.0): drafts, publishing, archiving, deleting; the pipelines of 002; and the triggers that
-- archiving disables.
-- A name may be used again after its workflow was deleted, while executions of the deleted one are still running. So a
-- workflow has an identity besides its name: `uid`. The row of the name stays, and with it the versions that those executions
-- need; the workflow that takes the name over gets a uid of its own and goes on counting versions.

-- up

alter table workflows
  add column uid uuid not null default gen_random_uuid(),
  add column draft json,
  add column draft_checksum text,
  -- Of pipelines: what 002 shows of them in lists.
  add column trigger_type text,
  add column cron_expression text,
  add column task_count int,
  add column deleted_at timestamptz,
  add constraint workflow_uid unique (uid),
  add constraint workflow_draft_complete check ((draft is null) = (draft_checksum is null)),
  add constraint workflow_draft_has_content check (status <> 'Draft' or draft is not null),
  add constraint workflow_archived_is_disabled check (status <> 'Archived' or not is_enabled),
  add constraint workflow_trigger_known check (trigger_type in ('api', 'cron', 'webhook')),
  add constraint workflow_cron_has_expression check ((trigger_type = 'cron') = (cron_expression is not null));

-- Versions below zero are snapshots of drafts that were executed (shown as version 0): pinned, but never published.
alter table workflow_definitions
  add column workflow_uid uuid,
  drop constraint definition_checksum,
  drop constraint definition_version_positive,
  add constraint definition_version_not_zero check (version <> 0);
update workflow_definitions d set workflow_uid = w.uid from workflows w where w.tenant_id = d.tenant_id and w.id = d.workflow_id;
alter table workflow_definitions alter column workflow_uid set not null;
create unique index definition_checksum on workflow_definitions (workflow_uid, checksum, (version > 0));

create index execution_by_workflow on workflow_executions (tenant_id, workflow_id, id);

create table workflow_triggers (
  id uuid not null default gen_random_uuid(),
  tenant_id text not null,
  workflow_id text not null,
  trigger_type text not null,
  is_enabled boolean not null default true,
  -- Reactivating a workflow enables these, and not those that somebody had disabled before it was archived.
  disabled_by_archive boolean not null default false,
  config json not null,
  activation_condition text,
  created_at timestamptz not null default clock_timestamp(),
  constraint workflow_triggers_pkey primary key (id),
  constraint trigger_workflow foreign key (tenant_id, workflow_id) references workflows (tenant_id, id) on delete cascade,
  constraint trigger_type_known check (trigger_type in ('Webhook', 'Schedule', 'Event', 'Manual')),
  constraint trigger_archive_mark check (not (is_enabled and disabled_by_archive))
);
create index trigger_by_workflow on workflow_triggers (tenant_id, workflow_id);
create index trigger_enabled on workflow_triggers (trigger_type) where is_enabled;

-- down

drop table workflow_triggers;
drop index execution_by_workflow, definition_checksum;
-- Snapshots of drafts and versions that a later owner of the name repeats have no place in the older schema.
delete from workflow_definitions d where d.version < 0 or exists (
  select from workflow_definitions o
  where o.tenant_id = d.tenant_id and o.workflow_id = d.workflow_id and o.checksum = d.checksum and o.version > d.version);
alter table workflow_definitions
  drop column workflow_uid,
  drop constraint definition_version_not_zero,
  add constraint definition_version_positive check (version > 0),
  add constraint definition_checksum unique (tenant_id, workflow_id, checksum);
alter table workflows
  drop constraint workflow_uid,
  drop constraint workflow_draft_complete,
  drop constraint workflow_draft_has_content,
  drop constraint workflow_archived_is_disabled,
  drop constraint workflow_trigger_known,
  drop constraint workflow_cron_has_expression,
  drop column uid,
  drop column draft,
  drop column draft_checksum,
  drop column trigger_type,
  drop column cron_expression,
  drop column task_count,
  drop column deleted_at;

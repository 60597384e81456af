-- The native engine: workflows, executions, the queue, the mailbox and the catalog.
-- Hot rows are few and small (execution_queue, runner_slots, runner_leases); everything else is insert-only.
-- json, not jsonb, for whatever re-enters evaluation: jsonb reorders keys, so a recovered value would differ from the live
-- one (I15). No foreign keys on hot tables: queueAudit finds what they would have refused (I12).

-- up

-- ── Workflows ───────────────────────────────────────────────────────────────────────────────────────────────────────

create table workflows (
  tenant_id text not null,
  id text not null,
  display_name text not null,
  description text,
  format text not null,
  current_version int,
  status text not null default 'Draft',
  is_enabled boolean not null default true,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint workflows_pkey primary key (tenant_id, id),
  constraint workflow_format_known check (format in ('graph', 'pipeline', 'plan')),
  constraint workflow_status_known check (status in ('Draft', 'Active', 'Archived')),
  constraint workflow_active_has_version check (status <> 'Active' or current_version is not null)
);

create table workflow_definitions (
  tenant_id text not null,
  workflow_id text not null,
  version int not null,
  format text not null,
  definition json not null,
  checksum text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint workflow_definitions_pkey primary key (tenant_id, workflow_id, version),
  constraint definition_checksum unique (tenant_id, workflow_id, checksum),
  constraint definition_workflow foreign key (tenant_id, workflow_id) references workflows (tenant_id, id) on delete cascade,
  constraint definition_format_known check (format in ('graph', 'pipeline', 'plan')),
  constraint definition_version_positive check (version > 0)
);

-- ── Runners: a fence row per connection, a lease per incarnation ────────────────────────────────────────────────────

create table runners (
  id bigint generated always as identity,
  name text not null,
  registered_at timestamptz not null default clock_timestamp(),
  constraint runners_pkey primary key (id)
);

-- Slot 0 claims and parks, the others commit. Every write of a runner locks one of these rows (I4).
create table runner_slots (
  id bigint generated always as identity,
  runner_id bigint not null,
  state text not null default 'live',
  constraint runner_slots_pkey primary key (id),
  constraint slot_state_known check (state in ('live', 'stopped', 'dead'))
) with (fillfactor = 50);
create index slot_by_runner on runner_slots (runner_id);

-- A table of its own, so that renewals never meet the fence.
create table runner_leases (
  runner_id bigint not null,
  expires_at timestamptz not null,
  constraint runner_leases_pkey primary key (runner_id)
) with (fillfactor = 50);

-- ── Executions: insert-only at start and at the end ─────────────────────────────────────────────────────────────────

create table workflow_executions (
  id uuid not null,
  tenant_id text not null,
  workflow_id text not null,
  version int not null,
  format text not null,
  priority smallint not null default 5,
  behaviour smallint not null default 1,
  trigger json not null,
  spec json,
  principal json not null,
  correlation_id text not null,
  request_id text,
  parent_id uuid,
  parent_node text,
  depth smallint not null default 0,
  project_id text not null default 'default',
  environment_id text not null default 'default',
  created_at timestamptz not null,
  constraint workflow_executions_pkey primary key (id),
  constraint execution_priority_range check (priority between 0 and 9),
  constraint execution_parent_complete check ((parent_id is null) = (parent_node is null))
);
create unique index execution_request on workflow_executions (tenant_id, request_id) where request_id is not null;
create index execution_newest on workflow_executions (tenant_id, id);
create index execution_by_parent on workflow_executions (parent_id) where parent_id is not null;

-- Its key is I13: an execution ends once.
create table execution_outcomes (
  execution_id uuid not null,
  tenant_id text not null,
  status text not null,
  outputs json,
  error json,
  context_snapshot json,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  constraint execution_outcomes_pkey primary key (execution_id),
  constraint outcome_status_known check (status in ('Succeeded', 'Failed', 'Cancelled', 'TimedOut'))
);
create index outcome_by_status on execution_outcomes (tenant_id, status, execution_id);

-- One small row per live execution, touched at start, claim, park, wake and end; never by ordinary progress.
create table execution_queue (
  execution_id uuid not null,
  tenant_id text not null,
  workflow_id text not null,
  version int not null,
  priority smallint not null,
  state smallint not null default 0,   -- 0 ready, 1 owned, 2 parked, 3 external (another driver runs it)
  ready_at timestamptz not null default clock_timestamp(),
  due_at timestamptz,
  runner_id bigint,
  epoch int not null default 0,
  crashes smallint not null default 0,
  waits smallint not null default 0,
  behaviour smallint not null default 1,
  paused boolean not null default false,
  constraint execution_queue_pkey primary key (execution_id),
  constraint queue_state_known check (state between 0 and 3),
  constraint queue_owned_has_runner check ((state = 1) = (runner_id is not null)),
  constraint queue_parked_has_wakeup check (state <> 2 or due_at is not null or waits > 0)   -- I12
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
create index queue_ready on execution_queue (tenant_id, priority, ready_at) where state = 0;
create index queue_due on execution_queue (due_at) where state = 2;
create index queue_owner on execution_queue (runner_id) where state = 1;

-- One row per transition; seq is its first fact's. inputs: parameters of the nodes it started, which loading skips.
create table execution_events (
  execution_id uuid not null,
  seq int not null,
  at timestamptz not null,
  facts json not null,
  inputs json,
  constraint execution_events_pkey primary key (execution_id, seq)
);

-- Inserted when an attempt has ended; its key is I3.
create table action_executions (
  execution_id uuid not null,
  node_id text not null,
  attempt smallint not null,
  action_type text not null,
  status text not null,
  started_seq int not null,
  outputs json,
  error json,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  constraint action_executions_pkey primary key (execution_id, node_id, attempt),
  constraint attempt_status_known check (status in ('Succeeded', 'Failed', 'RetriableFailure', 'Cancelled', 'TimedOut')),
  constraint attempt_positive check (attempt > 0)
);

-- The folded state at park, when it saves work; another decider version folds the journal instead.
create table execution_checkpoints (
  execution_id uuid not null,
  seq int not null,
  decider_version int not null,
  state json not null,
  constraint execution_checkpoints_pkey primary key (execution_id)
);

-- ── Mailbox ─────────────────────────────────────────────────────────────────────────────────────────────────────────

create table execution_inbox (
  id uuid not null,
  execution_id uuid not null,
  kind text not null,
  key text not null,
  body json not null,
  at timestamptz not null default clock_timestamp(),
  constraint execution_inbox_pkey primary key (id),
  constraint inbox_message_once unique (execution_id, kind, key),
  constraint inbox_kind_known check (kind in ('webhook', 'signal', 'cancel', 'child'))
);

-- Append-only audit: a signal that was consumed is still known, so a repeat stays a no-op (I10).
create table execution_signals (
  execution_id uuid not null,
  signal_id text not null,
  tenant_id text not null,
  body json not null,
  at timestamptz not null default clock_timestamp(),
  constraint execution_signals_pkey primary key (execution_id, signal_id)
);

-- ── Beside the journal ──────────────────────────────────────────────────────────────────────────────────────────────

-- Outbox: one row per commit (arrays), because a full row per event halves throughput. The publisher deletes what it sent.
create table commit_batches (
  id bigint generated always as identity,
  runner_id bigint not null,
  execution_ids uuid[] not null,
  seqs int[] not null,
  at timestamptz not null default clock_timestamp(),
  constraint commit_batches_pkey primary key (id)
);

create table workflow_resource_links (
  tenant_id text not null,
  system_name text not null,
  resource_type text not null,
  resource_id text not null,
  execution_id uuid not null,
  node_id text not null,
  attempt smallint not null,
  external_url text,
  created_at timestamptz not null default clock_timestamp(),
  constraint workflow_resource_links_pkey primary key (tenant_id, system_name, resource_type, resource_id)
);
create index resource_link_by_execution on workflow_resource_links (execution_id);

create table action_logs (
  execution_id uuid not null,
  id bigint generated always as identity,
  node_id text not null,
  attempt smallint not null,
  at timestamptz not null,
  level text not null,
  message text not null,
  data json,
  constraint action_logs_pkey primary key (execution_id, id)
);

create table dead_letters (
  id bigint generated always as identity,
  tenant_id text not null,
  execution_id uuid not null,
  enqueued_at timestamptz not null default clock_timestamp(),
  reason text not null,
  payload json not null,
  attempts int not null default 0,
  last_error text,
  constraint dead_letters_pkey primary key (id),
  constraint dead_letter_once unique (execution_id)
);
create index dead_letter_by_tenant on dead_letters (tenant_id, id);

-- ── Catalog and keys ────────────────────────────────────────────────────────────────────────────────────────────────

create table connectors (
  id text not null,
  display_name text not null,
  description text not null,
  icon_url text,
  documentation_url text,
  is_enabled boolean not null default true,
  requires_auth boolean not null default true,
  auth_type text,
  config_schema json,
  capabilities text[] not null,
  version text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint connectors_pkey primary key (id)
);

create table action_catalog (
  id text not null,
  display_name text not null,
  description text not null,
  category text not null,
  connector_id text not null,
  parameter_schema json not null,
  output_schema json not null,
  is_enabled boolean not null default true,
  version text not null,
  deprecation_notice text,
  tags text[] not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  constraint action_catalog_pkey primary key (id),
  constraint action_connector foreign key (connector_id) references connectors (id)
);
create index action_by_connector on action_catalog (connector_id);

-- Keys that every process of an installation must share, e.g. the one that signs webhook tokens.
create table engine_secrets (
  name text not null,
  value bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint engine_secrets_pkey primary key (name),
  constraint secret_long_enough check (octet_length(value) >= 32)
);

-- ── Views: the shapes that people query with SQL ────────────────────────────────────────────────────────────────────

-- json holds \u0000 and halves of surrogate pairs, but PostgreSQL's operators on it refuse the whole value. Null for those,
-- so that one strange value does not fail everybody's query.
create function json_field(value json, name text) returns json
language sql immutable parallel safe
return case when value::text ~ '\\u(0000|[dD][89abcdefABCDEF])' then null else value -> name end;

-- Status is the outcome's; without one, the queue's.
create view executions_view as
select e.id, e.tenant_id, e.workflow_id, e.version as workflow_version, e.format, e.request_id as workflow_request_id,
  case
    when o.execution_id is not null then o.status
    when q.epoch = 0 then 'Pending'
    when q.paused then 'Paused'
    else 'Running'
  end as status,
  e.priority, e.behaviour, e.trigger, e.spec, e.principal, o.outputs, o.error, o.context_snapshot,
  coalesce(o.started_at, (select t.at from execution_events t where t.execution_id = e.id order by t.seq limit 1)) as started_at,
  o.ended_at, e.correlation_id, e.parent_id as parent_execution_id, e.parent_node, e.depth,
  json_field(e.principal, 'userId') #>> '{}' as requester_user_id, json_field(e.principal, 'email') #>> '{}' as requester_email,
  json_field(e.principal, 'displayName') #>> '{}' as requester_display_name,
  e.project_id, e.environment_id, e.created_at
from workflow_executions e
left join execution_outcomes o on o.execution_id = e.id
left join execution_queue q on q.execution_id = e.id;

-- A row per fact. Its number is the transition's seq plus its place in it. A fact is written with its type first.
create view execution_events_view as
select t.execution_id as workflow_execution_id, t.seq + (f.place - 1)::int as seq, t.at as ts,
  case
    when k.type in ('NodeFailed', 'NodeTimedOut', 'ExecutionFailed', 'ExecutionTimedOut') then 'Error'
    when k.type in ('Warning', 'RetryScheduled') then 'Warn'
    else 'Info'
  end as level,
  'Orchestrator' as category, k.type, f.fact as data
from execution_events t
cross join lateral json_array_elements(t.facts) with ordinality f (fact, place)
cross join lateral (select substring(f.fact::text from '^\s*\{\s*"type"\s*:\s*"(\w+)"') as type) k;

create view workflow_execution_hierarchy as
select parent_id as parent_execution_id, id as child_execution_id, parent_node as parent_node_id, created_at
from workflow_executions
where parent_id is not null;

create view action_executions_view as
select a.execution_id as workflow_execution_id, a.node_id, a.action_type, a.status, a.attempt, a.attempt - 1 as retry_count,
  (select json_field(t.inputs, a.node_id) from execution_events t
   where t.execution_id = a.execution_id and t.seq <= a.started_seq and json_field(t.inputs, a.node_id) is not null
   order by t.seq desc limit 1) as parameters,
  a.outputs, a.error, a.started_at, a.ended_at
from action_executions a;

-- down

drop view action_executions_view, workflow_execution_hierarchy, execution_events_view, executions_view;
drop function json_field;
drop table engine_secrets, action_catalog, connectors, dead_letters, action_logs, workflow_resource_links, commit_batches,
  execution_signals, execution_inbox, execution_checkpoints, action_executions, execution_events, execution_queue,
  execution_outcomes, workflow_executions, runner_leases, runner_slots, runners, workflow_definitions, workflows;

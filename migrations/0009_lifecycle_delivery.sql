-- Lifecycles (001): machines as rows, one row per business object, its timeline. And delivery: messages that are written with
-- what they tell about, and how far each got at each consumer. Hot rows are small; json, not jsonb, so that what is sent again
-- is byte for byte what was sent before (I19). No foreign keys on what triggers write.

-- up

-- ── Machines: what an import makes of its definition and policies ───────────────────────────────────────────────────

create table lifecycle_environments (
  tenant_id text not null,
  code text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint lifecycle_environments_pkey primary key (tenant_id, code)
);

create table lifecycle_definitions (
  id int generated always as identity,
  tenant_id text not null,
  env text not null,
  name text not null,
  newest_version int not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  constraint lifecycle_definitions_pkey primary key (id),
  constraint lifecycle_name unique (tenant_id, env, name),
  constraint lifecycle_environment foreign key (tenant_id, env) references lifecycle_environments (tenant_id, code)
);

-- definition and policies are what is compiled; the tables below say the same to people who query with SQL.
create table lifecycle_versions (
  definition_id int not null,
  version int not null,
  checksum text not null,
  definition json not null,
  policies json,
  created_at timestamptz not null default clock_timestamp(),
  constraint lifecycle_versions_pkey primary key (definition_id, version),
  constraint lifecycle_version_definition foreign key (definition_id) references lifecycle_definitions (id) on delete cascade,
  constraint lifecycle_version_positive check (version > 0)
);

create table lifecycle_states (
  definition_id int not null,
  version int not null,
  name text not null,
  is_initial boolean not null,
  is_final boolean not null,
  timeout_ms bigint,
  timeout_event text,
  timeout_mode text,
  timeout_max int,
  timeout_interval_ms bigint,
  constraint lifecycle_states_pkey primary key (definition_id, version, name),
  constraint state_version foreign key (definition_id, version) references lifecycle_versions (definition_id, version) on delete cascade,
  constraint state_timeout_mode_known check (timeout_mode in ('once', 'repeat')),
  constraint state_timeout_complete check ((timeout_ms is null) = (timeout_event is null))
);
create unique index state_one_initial on lifecycle_states (definition_id, version) where is_initial;

create table lifecycle_events (
  definition_id int not null,
  version int not null,
  name text not null,
  event_id uuid not null,
  code bigint,
  constraint lifecycle_events_pkey primary key (definition_id, version, name),
  constraint event_code_once unique (definition_id, version, code),
  constraint event_version foreign key (definition_id, version) references lifecycle_versions (definition_id, version) on delete cascade
);

create table lifecycle_transitions (
  definition_id int not null,
  version int not null,
  from_state text not null,
  event text not null,
  to_state text not null,
  reenter boolean not null,
  constraint lifecycle_transitions_pkey primary key (definition_id, version, from_state, event),
  constraint transition_from foreign key (definition_id, version, from_state) references lifecycle_states (definition_id, version, name) on delete cascade,
  constraint transition_to foreign key (definition_id, version, to_state) references lifecycle_states (definition_id, version, name) on delete cascade,
  constraint transition_event foreign key (definition_id, version, event) references lifecycle_events (definition_id, version, name) on delete cascade
);

create table lifecycle_policies (
  definition_id int not null,
  version int not null,
  name text not null,
  ordinal int not null,
  applies_on json not null,
  condition text,
  constraint lifecycle_policies_pkey primary key (definition_id, version, name),
  constraint policy_version foreign key (definition_id, version) references lifecycle_versions (definition_id, version) on delete cascade
);

create table lifecycle_routes (
  definition_id int not null,
  version int not null,
  policy text not null,
  ordinal int not null,
  hook text,
  workflow text,
  consumers text[] not null,
  on_succeeded text,
  on_failed text,
  constraint lifecycle_routes_pkey primary key (definition_id, version, policy, ordinal),
  constraint route_policy foreign key (definition_id, version, policy) references lifecycle_policies (definition_id, version, name) on delete cascade,
  constraint route_hook_or_workflow check ((hook is null) <> (workflow is null))
);

-- A number that every import and every change of a consumer raises: what was decided with another one is not written. Sixteen
-- rows that always say the same: each writer shares the row of its connection, so two rarely meet in one (a lock that many
-- share is a multixact each time). Made by the first import.
create table lifecycle_generation (
  slot int not null,
  generation bigint not null,
  constraint lifecycle_generation_pkey primary key (slot)
) with (fillfactor = 50);

-- ── Instances ───────────────────────────────────────────────────────────────────────────────────────────────────────

create table lifecycle_instances (
  id uuid not null,
  definition_id int not null,
  external_ref text not null,
  version int not null,
  state text not null,
  revision int not null,
  state_since timestamptz not null,
  timeouts_fired int not null,
  due_at timestamptz,
  created_at timestamptz not null,
  constraint lifecycle_instances_pkey primary key (id),
  constraint instance_once unique (definition_id, external_ref),
  constraint instance_revision_positive check (revision > 0)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index instance_due on lifecycle_instances (due_at) where due_at is not null;
create index instance_by_state on lifecycle_instances (definition_id, state, external_ref);

-- Insert-only, for reporting. Transitions, and what the application says about its own activities, in one order.
create table lifecycle_timeline (
  instance_id uuid not null,
  id bigint generated always as identity,
  kind text not null,
  at timestamptz not null,
  revision int,
  event text,
  from_state text,
  to_state text,
  request_id text,
  activity_id uuid,
  activity text,
  status text,
  actor text,
  payload json,
  cause json,
  constraint lifecycle_timeline_pkey primary key (instance_id, id),
  constraint timeline_kind_known check (kind in ('transition', 'activity')),
  constraint timeline_transition_complete check (kind <> 'transition' or (revision is not null and event is not null
    and from_state is not null and to_state is not null and request_id is not null and cause is not null)),
  constraint timeline_activity_complete check (kind <> 'activity' or (activity_id is not null and activity is not null and status is not null))
);
-- A request applies once.
create unique index timeline_request on lifecycle_timeline (instance_id, request_id) where request_id is not null;
create unique index timeline_activity on lifecycle_timeline (activity_id) where activity_id is not null;

-- "This hook's consumers are done": written by the acknowledgement that made it so, kept until its event was triggered (I1).
create table lifecycle_reactions (
  id bigint generated always as identity,
  ack_guid uuid not null,
  outcome text not null,
  instance_id uuid not null,
  event text not null,
  due_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  constraint lifecycle_reactions_pkey primary key (id),
  constraint reaction_once unique (ack_guid, outcome),
  constraint reaction_outcome_known check (outcome in ('succeeded', 'failed'))
) with (fillfactor = 80);
create index reaction_due on lifecycle_reactions (due_at);

-- ── Delivery ────────────────────────────────────────────────────────────────────────────────────────────────────────

create table consumers (
  id int generated always as identity,
  tenant_id text not null,
  code text not null,
  kind text not null,
  url text,
  -- Newest first. Never shown.
  secrets text[] not null default '{}',
  subscriptions json not null default '[]',
  ordering text not null default 'delivered',
  concurrency int not null default 16,
  options json not null default '{}',
  is_paused boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint consumers_pkey primary key (id),
  constraint consumer_code unique (tenant_id, code),
  constraint consumer_kind_known check (kind in ('process', 'webhook', 'pull', 'nats', 'workflow', 'trigger')),
  constraint consumer_ordering_known check (ordering in ('delivered', 'processed')),
  constraint consumer_two_secrets check (cardinality(secrets) <= 2),
  constraint consumer_concurrency_positive check (concurrency > 0)
);

-- Insert-only, but for the two counters of a message whose end triggers an event.
create table messages (
  ack_guid uuid not null,
  tenant_id text not null,
  kind text not null,
  subject_id uuid not null,
  seq int not null,
  env text,
  source text not null,
  event text not null,
  body json not null,
  on_succeeded text,
  on_failed text,
  consumers int not null,
  -- Counted down, and failures up, only where on_succeeded or on_failed says that somebody wants to know.
  open_consumers int not null,
  failures int not null default 0,
  -- To the millisecond, as cursors are.
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  constraint messages_pkey primary key (ack_guid),
  constraint message_kind_known check (kind in ('transition', 'hook', 'execution'))
) with (fillfactor = 95);
create index message_by_age on messages (created_at, ack_guid);

-- One row per message and consumer.
create table deliveries (
  ack_guid uuid not null,
  consumer_id int not null,
  -- Order is kept within a subject: an instance or an execution.
  subject_id uuid not null,
  seq int not null,
  stage smallint not null default 0,   -- 0 Pending, 1 Delivered, 2 Processed, 3 Failed (sent again later), 4 Dead
  attempts int not null default 0,
  reminders int not null default 0,
  -- It waits for the one before it, whose acknowledgement makes it due; next_attempt_at is only the safety net.
  is_held boolean not null default false,
  -- How often it was processed: a replay does not count on its message again.
  processed int not null default 0,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  ended_at timestamptz,
  outcome text,
  message text,
  constraint deliveries_pkey primary key (ack_guid, consumer_id),
  constraint delivery_stage_known check (stage between 0 and 4),
  constraint delivery_outcome_known check (outcome in ('succeeded', 'failed')),
  constraint delivery_unsent_is_due check (stage not in (0, 3) or next_attempt_at is not null),   -- I19: nothing waits for nobody
  constraint delivery_ended_is_quiet check ((stage in (2, 4)) = (ended_at is not null) and (stage not in (2, 4) or next_attempt_at is null))
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);
create index delivery_due on deliveries (consumer_id, next_attempt_at) where next_attempt_at is not null;
-- What is still in the way of whom.
create index delivery_order on deliveries (consumer_id, subject_id, stage, seq) where stage in (0, 1, 3);
create index delivery_dead on deliveries (consumer_id, ack_guid) where stage = 4;

-- Who publishes the outbox of executions: one at a time, and every publication locks this row. Made by the first leader.
create table outbox_leadership (
  id int not null default 1,
  leader_id text not null,
  expires_at timestamptz not null,
  constraint outbox_leadership_pkey primary key (id),
  constraint outbox_one_leader check (id = 1)
) with (fillfactor = 50);
-- The publisher takes out what it published, so nearly all of it is dead rows.
alter table commit_batches set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);

create table notices (
  id bigint generated always as identity,
  tenant_id text not null,
  kind text not null,
  body json not null,
  at timestamptz not null,
  constraint notices_pkey primary key (id)
);
create index notice_newest on notices (tenant_id, id);
create index notice_by_age on notices (at);

-- ── Views: the shapes that people query with SQL ────────────────────────────────────────────────────────────────────

create view lifecycle_instances_view as
select i.id, d.tenant_id, d.env, d.name as definition, i.version, i.external_ref, i.state, coalesce(s.is_final, false) as is_final,
  i.revision, i.state_since, i.timeouts_fired, i.due_at as timeout_at, i.created_at
from lifecycle_instances i
join lifecycle_definitions d on d.id = i.definition_id
left join lifecycle_states s on s.definition_id = i.definition_id and s.version = i.version and s.name = i.state;

create view lifecycle_timeline_view as
select i.tenant_id, i.env, i.definition, i.external_ref, t.*
from lifecycle_timeline t
join lifecycle_instances_view i on i.id = t.instance_id;

-- What the application says about its own work.
create view lifecycle_activities as
select tenant_id, env, definition, external_ref, instance_id, activity_id, at, activity, status, actor, payload
from lifecycle_timeline_view
where kind = 'activity';

create view deliveries_view as
select m.tenant_id, c.code as consumer, d.ack_guid, m.kind, d.subject_id, d.seq, m.env, m.source, m.event,
  (array['Pending', 'Delivered', 'Processed', 'Failed', 'Dead'])[d.stage + 1] as stage,
  d.attempts, d.reminders, d.is_held, d.next_attempt_at, d.delivered_at, d.ended_at, d.outcome, d.message, m.created_at
from deliveries d
join messages m on m.ack_guid = d.ack_guid
left join consumers c on c.id = d.consumer_id;

-- down

drop view deliveries_view, lifecycle_activities, lifecycle_timeline_view, lifecycle_instances_view;
alter table commit_batches reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay);
drop table notices, outbox_leadership, deliveries, messages, consumers, lifecycle_reactions, lifecycle_timeline,
  lifecycle_instances, lifecycle_generation, lifecycle_routes, lifecycle_policies, lifecycle_transitions, lifecycle_events,
  lifecycle_states, lifecycle_versions, lifecycle_definitions, lifecycle_environments;

-- What became of executions and attempts, added up by the runners every ten seconds and outside the commit; a runner that is killed loses
-- what it has not written. Each is kept at three grains (0 minute, 1 hour, 2 day): minutes for two days, hours for ninety, days for ever.
-- `durations` and `waits` are histograms: how many fell into each bucket of src/statistics/histogram.ts.

-- up

create table execution_stats (
  tenant_id text not null,
  grain smallint not null,
  at timestamptz not null,
  workflow_id text not null,
  version int not null,
  started int not null,
  succeeded int not null,
  failed int not null,
  timed_out int not null,
  cancelled int not null,
  durations int[] not null,
  waits int[] not null,
  constraint execution_stats_pkey primary key (tenant_id, grain, at, workflow_id, version),
  constraint execution_stats_grain_known check (grain between 0 and 2)
) with (fillfactor = 70);
create index execution_stats_by_age on execution_stats (grain, at);

create table action_stats (
  tenant_id text not null,
  grain smallint not null,
  at timestamptz not null,
  action_type text not null,
  started int not null,
  succeeded int not null,
  failed int not null,
  timed_out int not null,
  cancelled int not null,
  durations int[] not null,
  waits int[] not null,
  constraint action_stats_pkey primary key (tenant_id, grain, at, action_type),
  constraint action_stats_grain_known check (grain between 0 and 2)
) with (fillfactor = 70);
create index action_stats_by_age on action_stats (grain, at);

-- Failures by cause: a hash of workflow, node, code and message without its digits. In steps of five minutes, for thirty days.
create table failure_groups (
  tenant_id text not null,
  at timestamptz not null,
  fingerprint text not null,
  workflow_id text not null,
  node_id text not null,
  code text not null,
  message text not null,
  count int not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  sample_id uuid not null,
  constraint failure_groups_pkey primary key (tenant_id, at, fingerprint)
) with (fillfactor = 70);
create index failure_group_by_age on failure_groups (at);

-- An action on many executions: who asked for what, and how far it is. `cursor` is the last execution that was dealt with.
create table bulk_actions (
  id uuid not null,
  tenant_id text not null,
  request_id text not null,
  action text not null,
  selection json not null,
  version int,
  reason text not null,
  actor text not null,
  correlation_id text,
  state text not null default 'running',
  count int not null,
  is_capped boolean not null,
  done int not null default 0,
  failed int not null default 0,
  skipped int not null default 0,
  last_error text,
  cursor uuid,
  claimed_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  constraint bulk_actions_pkey primary key (id),
  constraint bulk_request unique (tenant_id, request_id),
  constraint bulk_action_known check (action in ('cancel', 'retry', 'pause', 'resume', 'replay')),
  constraint bulk_state_known check (state in ('running', 'done', 'stopped')),
  constraint bulk_ended_has_time check ((state = 'running') = (ended_at is null))
) with (fillfactor = 70);
create index bulk_open on bulk_actions (claimed_until) where state = 'running';
create index bulk_newest on bulk_actions (tenant_id, id);

-- down

drop table bulk_actions;
drop table failure_groups;
drop table action_stats;
drop table execution_stats;

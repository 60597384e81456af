-- Triggers at work: when a schedule is to be looked at next, the secrets of webhooks, and what became of every firing.

-- up

alter table workflow_triggers
  -- Of schedules: when somebody must look at it next. -infinity: its times are not worked out yet; infinity: never again.
  -- While a scheduler works on it, the end of that scheduler's lease.
  add column due_at timestamptz not null default '-infinity',
  -- Of schedules: no slot up to this time is still to be fired. The truth, of which due_at is a consequence (I9).
  add column settled_through timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  -- Counts up with every change and every claim: whoever worked on an older one does not move the schedule.
  add column revision int not null default 1,
  -- Of event triggers: the type that they wait for, as in their config.
  add column event_type text,
  -- Of webhooks: what signatures are checked with, the newest first. Never shown.
  add column secrets text[] not null default '{}',
  add column updated_at timestamptz not null default clock_timestamp(),
  add constraint trigger_two_secrets check (cardinality(secrets) <= 2);
create index trigger_due on workflow_triggers (due_at) where trigger_type = 'Schedule' and is_enabled;
create index trigger_by_event on workflow_triggers (tenant_id, event_type, id) where trigger_type = 'Event' and is_enabled;
create index trigger_newest on workflow_triggers (tenant_id, id);
drop index trigger_enabled;

-- One row per firing: a slot, a webhook's id, an event's id. What was started stays; anything else may be tried again.
create table trigger_firings (
  id bigint generated always as identity,
  trigger_id uuid not null,
  tenant_id text not null,
  request_id text not null,
  -- Of schedules.
  slot timestamptz,
  outcome text not null,
  execution_id uuid,
  reason text,
  fired_at timestamptz not null default clock_timestamp(),
  constraint trigger_firings_pkey primary key (id),
  constraint firing_once unique (trigger_id, request_id),
  constraint firing_trigger foreign key (trigger_id) references workflow_triggers (id) on delete cascade,
  constraint firing_outcome_known check (outcome in ('started', 'condition_false', 'skipped', 'failed')),
  constraint firing_started_has_execution check ((outcome = 'started') = (execution_id is not null)),
  constraint firing_explained check (outcome = 'started' or reason is not null)
);
create index firing_newest on trigger_firings (trigger_id, id);
create index firing_by_age on trigger_firings (fired_at);

-- A trigger with what it depends on, and without its secrets.
create view workflow_triggers_view as
select t.id, t.tenant_id, t.workflow_id, t.trigger_type, t.is_enabled, t.config, t.activation_condition, t.event_type,
  cardinality(t.secrets) > 0 as has_secret, t.created_at, t.updated_at,
  w.status as workflow_status, w.is_enabled as workflow_enabled, w.format as workflow_format
from workflow_triggers t
join workflows w on w.tenant_id = t.tenant_id and w.id = t.workflow_id and w.deleted_at is null;

-- down

drop view workflow_triggers_view;
drop table trigger_firings;
drop index trigger_due, trigger_by_event, trigger_newest;
create index trigger_enabled on workflow_triggers (trigger_type) where is_enabled;
alter table workflow_triggers
  drop constraint trigger_two_secrets,
  drop column due_at,
  drop column settled_through,
  drop column revision,
  drop column event_type,
  drop column secrets,
  drop column updated_at;

-- Executions that another engine runs: Temporal or Conductor. Their queue row has state 3 (external), which no runner claims. A table of
-- its own beside the execution, so that what runs natively pays nothing for it.

-- up

create table external_runs (
  execution_id uuid not null,
  driver text not null,
  -- The other engine's name for the run (EngineRunRef), and the epoch that was handed over under it; null: not handed over yet.
  ref json,
  ref_epoch int,
  -- When somebody looks next whether the run was handed over, and whether it still exists over there. Null: the execution has ended.
  look_at timestamptz default clock_timestamp(),
  -- Hand-overs that failed in a row, and why the last one did.
  failures smallint not null default 0,
  last_error text,
  constraint external_runs_pkey primary key (execution_id),
  constraint external_driver_known check (driver in ('temporal', 'conductor')),
  constraint external_ref_complete check ((ref is null) = (ref_epoch is null))
) with (fillfactor = 70);
create index external_run_due on external_runs (driver, look_at) where look_at is not null;

-- An attempt that ran outside hands its outcome in as mail.
alter table execution_inbox drop constraint inbox_kind_known;
alter table execution_inbox add constraint inbox_kind_known check (kind in ('webhook', 'signal', 'cancel', 'child', 'attemptResult'));

-- Which engine a definition asks for; null: whichever the installation uses.
alter table workflow_definitions add column driver text generated always as (json_field(definition, 'driver') #>> '{}') stored;

create or replace view executions_view as
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
  e.project_id, e.environment_id, e.created_at, coalesce(x.driver, 'native') as driver, x.ref as engine_run_ref
from workflow_executions e
left join execution_outcomes o on o.execution_id = e.id
left join execution_queue q on q.execution_id = e.id
left join external_runs x on x.execution_id = e.id;

-- What runs outside has no runner of ours. It is waiting or sleeping by the same two columns as a parked one.
create or replace function execution_why(id uuid) returns text
language sql stable parallel safe
return (
  select case
    when q.paused then 'paused'
    when q.state = 0 and not exists (
      select from runner_slots s join runner_leases l on l.runner_id = s.runner_id
      where s.state = 'live' and l.expires_at > clock_timestamp()) then 'noWorker'
    when q.state = 0 or (q.state = 3 and q.epoch = 0) then 'queued'
    when exists (
      select from action_executions a where a.execution_id = q.execution_id and a.status = 'RetriableFailure'
        and not exists (select from action_executions n where n.execution_id = a.execution_id and n.node_id = a.node_id and n.attempt > a.attempt)
    ) then 'retrying'
    when q.state in (2, 3) and q.waits > 0 then 'waiting'
    when q.state = 2 or (q.state = 3 and q.due_at is not null) then 'sleeping'
    else 'running'
  end
  from execution_queue q where q.execution_id = $1
);

-- down

create or replace function execution_why(id uuid) returns text
language sql stable parallel safe
return (
  select case
    when q.paused then 'paused'
    when q.state = 0 and not exists (
      select from runner_slots s join runner_leases l on l.runner_id = s.runner_id
      where s.state = 'live' and l.expires_at > clock_timestamp()) then 'noWorker'
    when q.state = 0 then 'queued'
    when exists (
      select from action_executions a where a.execution_id = q.execution_id and a.status = 'RetriableFailure'
        and not exists (select from action_executions n where n.execution_id = a.execution_id and n.node_id = a.node_id and n.attempt > a.attempt)
    ) then 'retrying'
    when q.state = 2 and q.waits > 0 then 'waiting'
    when q.state = 2 then 'sleeping'
    else 'running'
  end
  from execution_queue q where q.execution_id = $1
);
drop view executions_view;
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
alter table workflow_definitions drop column driver;
delete from execution_inbox where kind = 'attemptResult';
alter table execution_inbox drop constraint inbox_kind_known;
alter table execution_inbox add constraint inbox_kind_known check (kind in ('webhook', 'signal', 'cancel', 'child'));
-- Nobody else would run them: what another engine had is ready for a runner.
update execution_queue set state = 0, ready_at = clock_timestamp(), due_at = null where state = 3;
drop table external_runs;

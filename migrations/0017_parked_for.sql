-- What a parked execution waits for, written with the park: bits, because it may wait for several things at once. 1 paused, 2 retry,
-- 4 callback, 8 child, 16 sleep. Lists by what executions wait for, and the counts of the dashboard, go along the index instead of
-- asking execution_why of every live row.
-- up

-- A runner of an earlier version leaves it as it is: what it parks is taken for asleep.
alter table execution_queue add column parked_for smallint not null default 16;

create or replace function execution_why(id uuid) returns text
language sql stable parallel safe
return (
  select case
    when q.paused then 'paused'
    when q.state = 0 and not exists (
      select from runner_slots s join runner_leases l on l.runner_id = s.runner_id
      where s.state = 'live' and l.expires_at > clock_timestamp()) then 'noWorker'
    when q.state = 0 or (q.state = 3 and q.epoch = 0) then 'queued'
    when q.state = 2 then
      case when q.parked_for & 2 > 0 then 'retrying' when q.parked_for & 12 > 0 then 'waiting' else 'sleeping' end
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

update execution_queue q
set parked_for = case execution_why(q.execution_id) when 'paused' then 1 when 'retrying' then 2 when 'waiting' then 4 else 16 end
where q.state = 2;

create index queue_parked_for on execution_queue (tenant_id, parked_for, execution_id) where state = 2;
create index queue_external on execution_queue (tenant_id, execution_id) where state = 3;

-- down

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

drop index queue_external;
drop index queue_parked_for;
alter table execution_queue drop column parked_for;

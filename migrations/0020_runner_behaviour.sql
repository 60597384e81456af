-- Which behaviour version a runner understands, so that an execution that waits for a newer runner during an upgrade says so.
-- Runners of older programs do not write it: they understand version 1.

-- up

alter table runners add behaviour smallint not null default 1;

create or replace function execution_why(id uuid) returns text
language sql stable parallel safe
return (
  select case
    when q.paused then 'paused'
    when q.state = 0 and not exists (
      select from runner_slots s join runner_leases l on l.runner_id = s.runner_id
      where s.state = 'live' and l.expires_at > clock_timestamp()) then 'noWorker'
    when q.state = 0 and not exists (
      select from runner_slots s join runner_leases l on l.runner_id = s.runner_id join runners r on r.id = s.runner_id
      where s.state = 'live' and l.expires_at > clock_timestamp() and r.behaviour >= q.behaviour) then 'needsNewerRunner'
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

alter table runners drop behaviour;

-- Executions that undo what they have done, or run their `finally`, say so in lists (why=compensating), and the catalog lists the codes
-- that actions fail with.

-- up

alter table execution_queue add compensating boolean not null default false;
alter table action_catalog add codes text[];

create or replace function execution_why(id uuid) returns text
language sql stable parallel safe
return (
  select case
    when q.paused then 'paused'
    when q.compensating then 'compensating'
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

alter table execution_queue drop compensating;
alter table action_catalog drop codes;

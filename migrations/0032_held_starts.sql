-- Starts over a rate limit can wait instead of being refused: accepted as Pending, parked until the limit has room. Bit 128 of
-- parked_for: the planned start is shown (DELAY); bit 256: it is not (QUEUE). Rate limits by window and by log beside the bucket.

-- up

-- Times of the last requests that were let through, in seconds since the epoch, for the sliding log. Those in the future are reserved.
alter table rate_buckets add column log double precision[];

create or replace function execution_why(id uuid) returns text
language sql stable parallel safe
return (
  select case
    when q.paused then 'paused'
    when q.compensating then 'compensating'
    when q.epoch = 0 and q.parked_for & 128 > 0 and q.due_at > clock_timestamp() then 'delayed'
    when q.epoch = 0 and q.parked_for & 256 > 0 and q.due_at > clock_timestamp() then 'queued'
    when q.state = 0 and not exists (
      select from runner_slots s join runner_leases l on l.runner_id = s.runner_id
      where s.state = 'live' and l.expires_at > clock_timestamp()) then 'noWorker'
    when q.state = 0 and not exists (
      select from runner_slots s join runner_leases l on l.runner_id = s.runner_id join runners r on r.id = s.runner_id
      where s.state = 'live' and l.expires_at > clock_timestamp() and r.behaviour >= q.behaviour) then 'needsNewerRunner'
    when q.state = 0 or q.epoch = 0 then 'queued'
    when q.state in (1, 2) and exists (
      select from attempt_queue a where a.execution_id = q.execution_id and a.lease_id is null
        and not exists (
          select from task_queue_workers w where w.task_queue = a.task_queue and w.tenant_id in ('', a.tenant_id)
            and w.seen_at > clock_timestamp() - interval '1 minute')) then 'noWorker'
    when q.state = 2 then
      case when q.parked_for & 2 > 0 then 'retrying' when q.parked_for & 12 > 0 then 'waiting' when q.parked_for & 64 > 0 then 'running'
        else 'sleeping' end
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
    when q.compensating then 'compensating'
    when q.state = 0 and not exists (
      select from runner_slots s join runner_leases l on l.runner_id = s.runner_id
      where s.state = 'live' and l.expires_at > clock_timestamp()) then 'noWorker'
    when q.state = 0 and not exists (
      select from runner_slots s join runner_leases l on l.runner_id = s.runner_id join runners r on r.id = s.runner_id
      where s.state = 'live' and l.expires_at > clock_timestamp() and r.behaviour >= q.behaviour) then 'needsNewerRunner'
    when q.state = 0 or (q.state = 3 and q.epoch = 0) then 'queued'
    when q.state in (1, 2) and exists (
      select from attempt_queue a where a.execution_id = q.execution_id and a.lease_id is null
        and not exists (
          select from task_queue_workers w where w.task_queue = a.task_queue and w.tenant_id in ('', a.tenant_id)
            and w.seen_at > clock_timestamp() - interval '1 minute')) then 'noWorker'
    when q.state = 2 then
      case when q.parked_for & 2 > 0 then 'retrying' when q.parked_for & 12 > 0 then 'waiting' when q.parked_for & 64 > 0 then 'running'
        else 'sleeping' end
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
alter table rate_buckets drop column log;
-- What waits for its time starts at once: a program of the version before would not know why it waits.
update execution_queue set state = 0, ready_at = clock_timestamp(), due_at = null, parked_for = 16 where state = 2 and parked_for in (128, 256);

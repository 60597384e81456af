-- Attempts that wait for a worker of their task queue: the owner of the execution does not serve it. A worker takes an attempt under a
-- lease of its own, renews the lease while it works, and hands its result in as mail. The row goes in the same statement (I3).

-- up

create table attempt_queue (
  execution_id uuid not null,
  node_id text not null,
  attempt smallint not null,
  tenant_id text not null,
  task_queue text not null,
  priority smallint not null,
  worker_pool text,
  runtime text,
  resource_class text,
  -- What the attempt is asked to do: its parameters as they were recorded, never a secret.
  request json not null,
  timeout_ms bigint,
  queued_at timestamptz not null default clock_timestamp(),
  lease_id uuid,
  worker text,
  taken_at timestamptz,
  lease_until timestamptz,
  -- How often a worker took it. One that keeps losing its workers is given up.
  takes smallint not null default 0,
  -- The execution stops: the worker hears of it with its next heartbeat.
  is_stopped boolean not null default false,
  constraint attempt_queue_pkey primary key (execution_id, node_id, attempt),
  constraint attempt_lease_whole check ((lease_id is null) = (lease_until is null) and (lease_id is null) = (taken_at is null))
) with (fillfactor = 70);
create index attempt_queue_next on attempt_queue (task_queue, tenant_id, priority desc, queued_at);
create unique index attempt_queue_lease on attempt_queue (lease_id) where lease_id is not null;
create index attempt_queue_overdue on attempt_queue (lease_until) where lease_id is not null;

-- Who works on a queue, as of its last poll. An empty tenant: a worker of the installation, which takes attempts of every tenant.
create table task_queue_workers (
  task_queue text not null,
  tenant_id text not null,
  worker text not null,
  slots int not null,
  busy int not null,
  seen_at timestamptz not null,
  constraint task_queue_workers_pkey primary key (task_queue, tenant_id, worker)
);

-- An execution that only waits for workers is parked with bit 64. It has no worker when nobody was seen on one of its queues lately.
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
-- A parked execution whose attempts were with workers: a runner takes it up and runs them itself.
update execution_queue set state = 0, ready_at = clock_timestamp() where state = 2 and execution_id in (select execution_id from attempt_queue);
drop table task_queue_workers;
drop table attempt_queue;

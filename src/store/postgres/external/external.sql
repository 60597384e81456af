-- Executions that another engine runs. The fence is the queue row itself: external, and at the epoch that the caller means (I4, I5).
-- An execution that was never begun has epoch 0, and is handed over as epoch 1: the first turn writes that down.

-- fragment: external_run
x.execution_id, x.driver, greatest(q.epoch, 1) as epoch, e.tenant_id, e.project_id, e.environment_id, e.workflow_id, e.version,
  e.request_id, case when x.ref_epoch = greatest(q.epoch, 1) then x.ref end as ref, x.failures, x.last_error,
  case when q.due_at is null then q.waits = 0 else q.due_at < now() - interval '5 seconds' end as is_busy

-- name: external_start
-- As execution_start, but nobody here claims what is new, and it waits to be handed over.
with @{use accepted},
held as (
  select * from unnest(@given.id::uuid[], @drivers::text[], @waits::int[], @bits::smallint[]) given (id, driver, wait_ms, bits)
),
queued as (
  insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, behaviour, state, due_at, parked_for)
  select a.id, a.tenant_id, a.workflow_id, a.version, a.priority, a.behaviour, 3,
    case when held.bits > 16 then clock_timestamp() + held.wait_ms * interval '1 millisecond' end, held.bits
  from accepted a join held on held.id = a.id
),
runs as (
  insert into external_runs (execution_id, driver, look_at)
  select held.id, held.driver, clock_timestamp() + held.wait_ms * interval '1 millisecond' from accepted a join held on held.id = a.id
)
select accepted.id, false as is_owned, clock_timestamp() as at from (select) once left join accepted on true;

-- name: external_look
-- Rows of four kinds, as in execution_load; the first says whether there is anything to look at.
with target as materialized (
  select q.execution_id, x.driver from execution_queue q join external_runs x on x.execution_id = q.execution_id
  where q.execution_id = @executionId::uuid and q.state = 3 and greatest(q.epoch, 1) = @epoch::int
),
news as materialized (
  select t.seq, t.at, t.facts from execution_events t
  where t.execution_id = @executionId::uuid and t.seq > @afterSeq::int and exists (select from target)
)
select 0::int as kind, null::int as seq, clock_timestamp() as at, null::uuid as message_id, driver as name, null::text as key, null::json as body
from target
union all
select 2, seq, at, null, null, null, facts from (select * from news order by seq) n
union all
-- What ended in these transitions ended at their time.
select 3, a.attempt, null, null, a.node_id, null, a.outputs from action_executions a
where a.execution_id = @executionId::uuid and a.outputs is not null and a.status in ('Succeeded', 'Failed', 'TimedOut')
  and a.ended_at >= (select min(at) from news)
union all
select 4, null, null, m.id, m.kind, m.key, m.body
from (select * from execution_inbox m where m.execution_id = @executionId::uuid and exists (select from target) order by m.at, m.id) m;

-- name: external_commit
-- One turn of one execution, atomically. As in execution_commit events come last, which is first for PostgreSQL: a turn that was
-- overtaken meets the journal key and nothing else.
with fence as materialized (
  select execution_id from execution_queue where execution_id = @executionId::uuid and state = 3 and greatest(epoch, 1) = @epoch::int for no key update
),
outbox as (
  -- Runner 0: nobody of ours.
  insert into commit_batches (runner_id, execution_ids, seqs)
  select 0, @events.execution_id::uuid[], @events.seq::int[] from fence where cardinality(@events.execution_id::uuid[]) > 0
),
@{use logs},
@{use links},
@{use sent},
@{use consumed},
children as (
  insert into workflow_executions (@{execution})
  select * from @{children: execution}
  where exists (select from fence)
  on conflict do nothing
  returning id, tenant_id, workflow_id, version, priority, behaviour
),
-- A child runs on the engine of its parent.
children_queue as (
  insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, behaviour, state)
  select id, tenant_id, workflow_id, version, priority, behaviour, 3 from children
),
children_runs as (
  insert into external_runs (execution_id, driver, look_at)
  select c.id, x.driver, clock_timestamp() + @childHandOverMs::float8 * interval '1 millisecond'
  from children c cross join external_runs x where x.execution_id = @executionId::uuid
),
@{use outcomes},
run_ended as (
  update external_runs set look_at = null where execution_id = any(@ended::uuid[]) and exists (select from fence)
),
waiting as (
  update execution_queue set epoch = @epoch::int, due_at = @dueAt::timestamptz, waits = @waits::smallint, paused = @isPaused::boolean
  where execution_id = @executionId::uuid and execution_id <> all(@ended::uuid[]) and exists (select from fence)
    and (epoch, due_at, waits, paused) is distinct from (@epoch::int, @dueAt::timestamptz, @waits::smallint, @isPaused::boolean)
),
@{use ended},
@{use attempts},
@{use events}
select exists (select from fence) as applied, clock_timestamp() as at;

-- name: external_due
-- What is taken is left alone by others for @holdMs ms; should its taker die, somebody else takes it then. What has ended needs no look.
-- Nobody waits for the disk: what a crash of the database forgets is taken again, and handing over twice is the same run.
with lazily as materialized (select set_config('synchronous_commit', 'off', true)),
taken as (
  update external_runs set look_at = clock_timestamp() + @holdMs::float8 * interval '1 millisecond'
  where execution_id = any(array(
    select execution_id from external_runs where driver = @driver and look_at <= now() order by look_at limit @limit::int for update skip locked))
  returning execution_id, driver, ref, ref_epoch, failures, last_error
),
over as (
  update external_runs set look_at = null
  where execution_id = any(array(select execution_id from taken t where not exists (select from execution_queue q where q.execution_id = t.execution_id)))
)
select @{use external_run}
from lazily cross join taken x join execution_queue q on q.execution_id = x.execution_id and q.state + 0 = 3
join workflow_executions e on e.id = x.execution_id;

-- name: external_get
select @{use external_run}
from external_runs x join execution_queue q on q.execution_id = x.execution_id and q.state = 3 join workflow_executions e on e.id = x.execution_id
where x.execution_id = @executionId;

-- name: external_note
-- Of an execution that has ended meanwhile the reference is kept, and nobody looks any more. Nobody waits for the disk, as above: without
-- its reference a run is handed over again.
with lazily as materialized (select set_config('synchronous_commit', 'off', true))
update external_runs x set
  ref = coalesce(@ref::json, x.ref), ref_epoch = case when @ref::json is null then x.ref_epoch else @epoch::int end,
  failures = case when @ref::json is null then least(x.failures + 1, 32767) else 0 end,
  last_error = case when @ref::json is null then @error::text end,
  look_at = case when exists (select from execution_queue q where q.execution_id = x.execution_id and greatest(q.epoch, 1) = @epoch::int)
    then clock_timestamp() + @lookAfterMs::float8 * interval '1 millisecond' else x.look_at end
from lazily
where x.execution_id = @executionId
  -- Not by one who comes late, with a run of an earlier epoch.
  and not exists (select from execution_queue q where q.execution_id = x.execution_id and greatest(q.epoch, 1) <> @epoch::int)
returning execution_id;

-- name: external_mail
select @{use external_run}
from (
  select execution_id, min(at) as at from execution_inbox group by execution_id having min(at) < now() - @olderThanMs::float8 * interval '1 millisecond'
) m
cross join lateral (select * from external_runs x where x.execution_id = m.execution_id and x.driver || '' = @driver offset 0) x
cross join lateral (select * from execution_queue q where q.execution_id = m.execution_id and q.state + 0 = 3 offset 0) q
cross join lateral (select * from workflow_executions e where e.id = m.execution_id offset 0) e
order by m.at limit @limit::int;

-- name: external_places
select distinct e.tenant_id, e.project_id, e.environment_id
from external_runs x join workflow_executions e on e.id = x.execution_id where x.driver = @driver and x.look_at is not null;

-- name: external_give_up
with removed as (
  delete from execution_queue
  where execution_id = @executionId::uuid and state = 3 and greatest(epoch, 1) = @epoch::int
  returning execution_id
),
run_ended as (
  update external_runs set look_at = null where execution_id = any(array(select execution_id from removed))
),
outcome as (
  insert into execution_outcomes (@{outcome})
  select execution_id, @tenantId, @status, @outputs::json, @error::json, @contextSnapshot::json, @startedAt::timestamptz, @endedAt::timestamptz from removed
  on conflict do nothing
),
letter as (
  insert into dead_letters (tenant_id, execution_id, reason, payload, attempts, last_error)
  select @tenantId, execution_id, @reason, @payload::json, 0, @lastError from removed where @keepLetter::boolean
  on conflict do nothing
),
event as (
  insert into execution_events (@{event})
  select e.* from @{events: event} e where exists (select from removed)
),
sent as (
  insert into execution_inbox (@{message})
  select m.* from @{sent: message} m where exists (select from removed)
  on conflict (execution_id, kind, key) do nothing
),
outbox as (
  insert into commit_batches (runner_id, execution_ids, seqs)
  select 0, @events.execution_id::uuid[], @events.seq::int[] from removed where cardinality(@events.execution_id::uuid[]) > 0
)
select exists (select from removed) as applied;

-- name: external_letter
-- As dead_letter_note: the execution goes on, and only the letter is written.
with owned as (
  select execution_id from execution_queue
  where execution_id = @executionId::uuid and state = 3 and greatest(epoch, 1) = @epoch::int for no key update
),
letter as (
  insert into dead_letters (tenant_id, execution_id, reason, payload, attempts, last_error)
  select @tenantId, execution_id, @reason, @payload::json, @attempts::int, @lastError from owned
  on conflict do nothing
)
select exists (select from owned) as applied;

-- name: external_again
-- The epoch must be none that the execution had (I5): see execution_reopen.
with renewed as (
  update execution_queue set epoch = 1 + (pg_current_xact_id()::text::bigint % 2000000000)::int
  where execution_id = @executionId::uuid and state = 3 and greatest(epoch, 1) = @epoch::int
  returning execution_id
),
due as (
  update external_runs set look_at = clock_timestamp() where execution_id = any(array(select execution_id from renewed))
)
select exists (select from renewed) as again;

-- Attempts that wait for workers of their task queue.

-- name: attempt_queue_add
-- After the commit that recorded the start, and again by each new owner: a row that is there stays as it is. Only for the claim that is
-- meant (I5), and not when the result has been handed in already.
insert into attempt_queue (execution_id, node_id, attempt, tenant_id, task_queue, priority, worker_pool, runtime, resource_class, request, timeout_ms)
select a.execution_id, a.node_id, a.attempt, a.tenant_id, a.task_queue, a.priority, a.worker_pool, a.runtime, a.resource_class, a.request, a.timeout_ms
from unnest($1::uuid[], $2::text[], $3::smallint[], $4::text[], $5::text[], $6::smallint[], $7::text[], $8::text[], $9::text[], $10::json[],
  $11::bigint[], $12::int[]) a (execution_id, node_id, attempt, tenant_id, task_queue, priority, worker_pool, runtime, resource_class, request,
  timeout_ms, epoch)
where exists (select from execution_queue q where q.execution_id = a.execution_id and q.epoch = a.epoch)
  and not exists (select from execution_inbox m where m.execution_id = a.execution_id and m.kind = 'attemptResult'
    and m.key = a.node_id || ':' || a.attempt || ':')
on conflict do nothing;

-- name: attempt_queue_take
-- $1 queues, $2 worker, $3 its tenant (null: all), $4 how many, $5 lease in ms, $6 slots, $7 busy, $8 pool, $9 runtime, $10 class, $11 most takes.
-- Tenants take turns (I22): each is found by one probe of attempt_queue_next, then one row of each before the second of any.
-- What the worker does not say about itself fits everything.
with presence as (
  insert into task_queue_workers (task_queue, tenant_id, worker, slots, busy, seen_at)
  select wanted.queue, coalesce($3::text, ''), $2::text, $6::int, $7::int, clock_timestamp() from unnest($1::text[]) wanted (queue)
  on conflict (task_queue, tenant_id, worker) do update set slots = excluded.slots, busy = excluded.busy, seen_at = excluded.seen_at
  where task_queue_workers.seen_at < excluded.seen_at - interval '5 seconds'
    or task_queue_workers.slots <> excluded.slots or task_queue_workers.busy <> excluded.busy
),
waiting as materialized (
  select a.execution_id, a.node_id, a.attempt, a.task_queue, a.tenant_id, a.priority, a.queued_at
  from unnest($1::text[]) wanted (queue)
  cross join lateral (
    with recursive tenants as (
      select coalesce($3::text, (select min(n.tenant_id) from attempt_queue n where n.task_queue = wanted.queue)) as id
      union all
      select (select min(n.tenant_id) from attempt_queue n where n.task_queue = wanted.queue and n.tenant_id > tenants.id)
      from tenants where tenants.id is not null and $3::text is null
    )
    select id from tenants where id is not null
  ) tenant
  cross join lateral (
    select * from attempt_queue a
    where a.task_queue = wanted.queue and a.tenant_id = tenant.id and not a.is_stopped and a.takes < $11::int
      and (a.lease_until is null or a.lease_until < clock_timestamp()) and (a.held_until is null or a.held_until < clock_timestamp())
      and ($8::text is null or a.worker_pool is null or a.worker_pool = $8)
      and ($9::text is null or a.runtime is null or a.runtime = $9)
      and ($10::text is null or a.resource_class is null or a.resource_class = $10)
    order by a.priority desc, a.queued_at limit $4::int
    for update skip locked
  ) a
),
next as (
  select execution_id, node_id, attempt from waiting
  order by row_number() over (partition by task_queue, tenant_id order by priority desc, queued_at), queued_at
  limit $4::int
)
update attempt_queue a
set lease_id = gen_random_uuid(), worker = $2::text, taken_at = clock_timestamp(), takes = a.takes + 1,
  lease_until = clock_timestamp() + $5::int * interval '1 millisecond'
from next where a.execution_id = next.execution_id and a.node_id = next.node_id and a.attempt = next.attempt
returning a.lease_id, a.execution_id, a.node_id, a.attempt, a.tenant_id, a.task_queue, a.request, a.timeout_ms, a.takes, a.lease_until, a.taken_at,
  a.held_until is not null as is_admitted;

-- name: attempt_queue_beat
-- A lease that ended and that nobody else has taken is renewed: the attempt goes on. $4: no worker keeps an attempt longer than its timeout
-- and this; then the lease runs out, and the attempt is given up.
update attempt_queue a
set lease_until = case when a.timeout_ms is not null and a.taken_at + (a.timeout_ms + $4::int) * interval '1 millisecond' < clock_timestamp()
  then a.lease_until else clock_timestamp() + $3::int * interval '1 millisecond' end
where a.lease_id = any($1::uuid[]) and ($2::text is null or a.tenant_id = $2)
returning a.lease_id, a.is_stopped, a.lease_until;

-- name: attempt_queue_held
select a.lease_id, a.execution_id, a.node_id, a.attempt, a.tenant_id, a.task_queue, a.request, a.timeout_ms, a.takes, a.lease_until, a.taken_at,
  a.held_until is not null as is_admitted
from attempt_queue a where a.lease_id = $1::uuid and ($2::text is null or a.tenant_id = $2);

-- name: attempt_queue_complete
-- The result is in the mailbox in the moment in which the row goes: no crash loses it, and no second worker reports it too (I3, I10).
with done as (
  delete from attempt_queue where lease_id = $1::uuid returning execution_id, node_id, attempt
),
target as (
  update execution_queue q
  set state = case when q.state = 2 then 0 else q.state end,
    ready_at = case when q.state = 2 then clock_timestamp() else q.ready_at end,
    due_at = case when q.state = 2 then null else q.due_at end
  from done where q.execution_id = done.execution_id
  returning q.execution_id
),
sent as (
  insert into execution_inbox (id, execution_id, kind, key, body)
  select $2::uuid, target.execution_id, 'attemptResult', done.node_id || ':' || done.attempt || ':', $3::json from target, done
  on conflict (execution_id, kind, key) do nothing
)
select done.execution_id, exists (select from target) as live from done;

-- name: attempt_queue_release
-- The worker stops: somebody else takes the attempt. Its time with this one does not count against it.
update attempt_queue set lease_id = null, lease_until = null, taken_at = null, worker = null, takes = greatest(takes - 1, 0)
where lease_id = any($1::uuid[]) returning task_queue;

-- name: attempt_queue_hold
-- The limit of its tenant has a place for the attempt in a moment: nobody takes it before, and whoever takes it then asks no more.
update attempt_queue set lease_id = null, lease_until = null, taken_at = null, worker = null, takes = greatest(takes - 1, 0),
  held_until = clock_timestamp() + $2::int * interval '1 millisecond'
where lease_id = $1::uuid;

-- name: attempt_queue_stop
-- What nobody has taken goes at once. A worker that has it hears of it with its next heartbeat.
with wanted as (
  select * from unnest($1::uuid[], $2::text[], $3::smallint[]) w (execution_id, node_id, attempt)
),
told as (
  update attempt_queue a set is_stopped = true from wanted w
  where a.execution_id = w.execution_id and a.node_id = w.node_id and a.attempt = w.attempt and a.lease_until >= clock_timestamp()
  returning a.execution_id, a.node_id, a.attempt
),
dropped as (
  delete from attempt_queue a using wanted w
  where a.execution_id = w.execution_id and a.node_id = w.node_id and a.attempt = w.attempt
    and (a.lease_until is null or a.lease_until < clock_timestamp())
)
select w.execution_id, w.node_id, w.attempt from wanted w
where not exists (select from told t where t.execution_id = w.execution_id and t.node_id = w.node_id and t.attempt = w.attempt)
  and not exists (select from execution_inbox m where m.execution_id = w.execution_id and m.kind = 'attemptResult'
    and m.key = w.node_id || ':' || w.attempt || ':');

-- name: attempt_queue_drop
delete from attempt_queue where execution_id = any($1::uuid[]);

-- name: attempt_queue_overdue
-- Leases that ended long enough ago: the attempt took longer than it may, or has lost too many workers. Both are results.
select a.lease_id, a.execution_id, a.node_id, a.attempt, a.tenant_id, a.task_queue, a.request, a.timeout_ms, a.takes, a.lease_until, a.taken_at,
  a.held_until is not null as is_admitted
from attempt_queue a
where a.lease_id is not null and a.lease_until < clock_timestamp()
  and (a.takes >= $1::int or (a.timeout_ms is not null and a.taken_at + a.timeout_ms * interval '1 millisecond' < clock_timestamp()))
order by a.lease_until limit 100;

-- name: attempt_queue_tidy
-- Attempts of executions that ended, log lines that a crash left behind, and workers that have not been seen for an hour.
with gone as (
  delete from attempt_queue a where not exists (select from execution_queue q where q.execution_id = a.execution_id)
),
lines as (
  delete from live_lines l where not exists (select from execution_queue q where q.execution_id = l.execution_id)
)
delete from task_queue_workers where seen_at < clock_timestamp() - interval '1 hour';

-- name: task_queue_worker_leave
delete from task_queue_workers where task_queue = any($1::text[]) and worker = $2 and tenant_id = coalesce($3::text, '');

-- name: task_queue_list
-- $1: of one tenant; null: of all. Workers of the installation serve every tenant.
select coalesce(a.task_queue, w.task_queue) as task_queue, coalesce(a.ready, 0) as ready, coalesce(a.running, 0) as running, a.oldest as oldest_queued_at,
  coalesce(w.workers, '[]') as workers
from (
  select task_queue, (count(*) filter (where is_ready))::int as ready, (count(*) filter (where lease_until >= clock_timestamp()))::int as running,
    min(queued_at) filter (where is_ready) as oldest
  from attempt_queue cross join lateral (
    select (lease_until is null or lease_until < clock_timestamp()) and (held_until is null or held_until < clock_timestamp()) as is_ready
  ) state
  where $1::text is null or tenant_id = $1 group by task_queue
) a
full join (
  select task_queue, json_agg(json_build_object('worker', worker, 'slots', slots, 'busy', busy, 'seenAt', extract(epoch from seen_at) * 1000)
    order by worker) as workers
  from task_queue_workers
  where seen_at > clock_timestamp() - interval '1 minute' and ($1::text is null or tenant_id in ('', $1)) group by task_queue
) w on w.task_queue = a.task_queue
order by 1;

-- Queue: what makes waiting executions ready. On an idle system only queue_wake runs, every second: it tells whether the others are
-- worth asking.

-- name: queue_wake
-- now() in the predicate, because it can use the index; clock_timestamp() in the values.
-- The next due time makes the following look come in time instead of at the next poll.
with woken as (
  update execution_queue set state = 0, ready_at = clock_timestamp(), due_at = null
  where execution_id = any(array(
    select execution_id from execution_queue where state = 2 and due_at <= now() order by due_at limit $1::int for update skip locked))
  returning execution_id
)
select (select count(*)::int from woken) as woken,
  (select due_at from execution_queue where state = 2 and due_at > now() order by due_at limit 1) as next_due_at,
  -- In the order of an index, so that no other way looks cheaper. What became ready a moment ago was told to a runner, which is about to
  -- take it: others that looked would cut its claims into pieces.
  (select true from execution_queue where state = 0 and ready_at <= now() - $2::int * interval '1 millisecond'
    order by tenant_id, priority, ready_at limit 1) is not null as has_ready,
  exists (select from execution_inbox) as has_mail;

-- name: queue_wake_mail
-- The correctness path behind every hint (I10, I11). The mail of running executions is skipped row by row: it is short-lived.
-- Mail of executions that have ended is dealt with here, because nobody else ever reads it. A repair (src/core/decider/signal-type.ts) that was
-- accepted just before the end reopens, as it would have just after (execution_reopen); it is known by its key, because a body may hold
-- any text. The rest is thrown away: the end of a child whose parent did not wait, a callback that came twice. The ten
-- seconds are for a target that is being inserted just now.
with stray as materialized (
  select i.id, i.execution_id, i.at, i.kind = 'signal' and i.key ~ '@{constant reopening_key}' as reopens
  from execution_inbox i
  where not exists (select from execution_queue q where q.execution_id = i.execution_id)
),
reopened as (
  delete from execution_outcomes
  where execution_id = any(array(select execution_id from stray where reopens))
  returning execution_id
),
queued as (
  insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, behaviour, epoch, state)
  -- The epoch: see execution_reopen.
  select e.id, e.tenant_id, e.workflow_id, e.version, e.priority, e.behaviour, 1 + (pg_current_xact_id()::text::bigint % 2000000000)::int,
    case when exists (select from external_runs x where x.execution_id = e.id) then 3 else 0 end
  from workflow_executions e where e.id = any(array(select execution_id from reopened))
),
-- An execution of another engine goes back there, as a new run.
handed_over as (
  update external_runs set look_at = clock_timestamp() where execution_id = any(array(select execution_id from reopened))
),
counted as (
  insert into tenant_runs (tenant_id, execution_id)
  select e.tenant_id, e.id from workflow_executions e
  where e.id = any(array(select execution_id from reopened)) and e.parent_id is null
    and exists (select from tenant_quotas t where t.tenant_id = e.tenant_id and t.concurrent_runs is not null)
  on conflict do nothing
),
settled as (
  delete from dead_letters where execution_id = any(array(select execution_id from reopened))
),
forgotten as (
  delete from execution_inbox
  where id = any(array(select id from stray where not reopens and at < now() - interval '10 seconds'))
),
-- A cancel may have come from a parent, whose commit touches no queue row but its own: it takes the child out of the backlog here,
-- as inbox_send does.
found as materialized (
  select waiting.execution_id, mail.cancels
  from (select execution_id, bool_or(kind = 'cancel') as cancels from execution_inbox group by execution_id) mail
  cross join lateral (
    select q.execution_id from execution_queue q
    where q.execution_id = mail.execution_id and ((q.state = 2 and (mail.cancels or q.parked_for < 128)) or (mail.cancels and q.state = 0 and q.priority <> 10))
    for update skip locked
  ) waiting
  limit $1::int
),
woken as (
  update execution_queue set state = 0, ready_at = clock_timestamp(), due_at = null,
    priority = case when execution_id = any(array(select execution_id from found where cancels)) then 10 else priority end
  where execution_id = any(array(select execution_id from found))
  returning execution_id
)
select execution_id from woken union all select execution_id from reopened;

-- name: queue_lanes
-- A loose index scan: one probe per lane, however long the lanes are (5.7 ms for 202). The probe meets each lane's oldest
-- row first, so how long it has waited costs nothing more.
with recursive lane as (
  (select tenant_id, priority, ready_at from execution_queue where state = 0 and (tenant_id, priority) > ($2::text, $3::smallint)
   order by tenant_id, priority, ready_at limit 1)
  union all
  select next.tenant_id, next.priority, next.ready_at from lane
  cross join lateral (
    select q.tenant_id, q.priority, q.ready_at from execution_queue q
    where q.state = 0 and (q.tenant_id, q.priority) > (lane.tenant_id, lane.priority)
    order by q.tenant_id, q.priority, q.ready_at limit 1
  ) next
)
select tenant_id, priority, ready_at from lane limit $1::int;

-- name: queue_audit
-- I12, and what foreign keys would have refused on the hot tables. The first part reads all of history (0.5 s per million that
-- ended): what is missing from two tables is in no index. So nobody waits for it (housekeeping.ts).
select e.id as execution_id, 'neither in the queue nor ended' as problem
from workflow_executions e
where not exists (select from execution_queue q where q.execution_id = e.id)
  and not exists (select from execution_outcomes o where o.execution_id = e.id)
union all
select q.execution_id, 'ended, and still in the queue'
from execution_queue q where exists (select from execution_outcomes o where o.execution_id = q.execution_id)
union all
select q.execution_id, 'in the queue without an execution'
from execution_queue q where not exists (select from workflow_executions e where e.id = q.execution_id)
union all
-- What another engine runs is handed over, or looked after, when it is due.
select q.execution_id, 'external, and nobody looks after it'
from execution_queue q
where q.state = 3 and not exists (select from external_runs x where x.execution_id = q.execution_id and x.look_at is not null)
union all
select q.execution_id, 'owned by a runner that is not live'
from execution_queue q
where q.state = 1 and not exists (select from runner_slots s where s.runner_id = q.runner_id and s.state = 'live')
limit 1000;

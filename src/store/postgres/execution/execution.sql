-- Executions: start, claim, load, commit, park. The hot path: read the numbers in the comments before changing a line.
-- The parts that several statements have. The comments at the statements say why they are in this order.

-- fragment: fence
-- The runner's own row (I4): locked for as long as the statement lasts, and without it nothing is written.
fence as materialized (
  select runner_id from runner_slots where id = @slotId and state = 'live' for no key update
)

-- fragment: accepted
-- New executions. `on conflict do nothing` on every key: a request id that exists is not inserted (the caller looks it up in a
-- new statement, whose snapshot sees the winner), and the same start sent twice finds its own row.
accepted as (
  insert into workflow_executions (@{execution})
  select @{given.execution}
  from unnest(@{arrays given: execution}, @ifCurrent::boolean[]) given (@{execution}, if_current)
  -- Only if the version is the one that a start would take now. So what was known about a workflow a moment ago can be used
  -- without asking first, which would be a round trip before each insert. A scalar, not `exists`: that would be hashed, from all
  -- workflows there are.
  where not given.if_current or given.version = (
    select w.current_version from workflows w where w.tenant_id = given.tenant_id and w.id = given.workflow_id
      and w.deleted_at is null and w.status = 'Active' and w.is_enabled)
  on conflict do nothing
  returning id, tenant_id, workflow_id, version, priority, behaviour
)

-- fragment: outbox
outbox as (
  insert into commit_batches (runner_id, execution_ids, seqs)
  select runner_id, @events.execution_id::uuid[], @events.seq::int[] from fence where cardinality(@events.execution_id::uuid[]) > 0
)

-- fragment: logs
logs as (
  insert into action_logs (@{log})
  select * from @{logs: log}
  where exists (select from fence)
)

-- fragment: links
links as (
  insert into workflow_resource_links (@{link})
  select * from @{links: link}
  where exists (select from fence)
  on conflict do nothing
)

-- fragment: sent
sent as (
  insert into execution_inbox (@{message})
  select * from @{sent: message}
  where exists (select from fence)
  on conflict (execution_id, kind, key) do nothing
)

-- fragment: consumed
consumed as (
  delete from execution_inbox where id = any(@consumed::uuid[]) and exists (select from fence)
)

-- fragment: outcomes
outcomes as (
  insert into execution_outcomes (@{outcome})
  select * from @{outcomes: outcome}
  where exists (select from fence)
)

-- fragment: ended
ended as (
  delete from execution_queue where execution_id = any(@ended::uuid[]) and exists (select from fence)
)

-- fragment: attempts
attempts as (
  insert into action_executions (@{attempt})
  select * from @{attempts: attempt}
  where exists (select from fence)
)

-- fragment: events
events as (
  insert into execution_events (@{event})
  select * from @{events: event}
  where exists (select from fence)
)

-- name: execution_start
-- Many at once. @slotId: the slot of a runner that takes them itself, or null. It saves them the way through the queue, which is a claim
-- (a round trip, and a wait for the disk) and two index entries. Without a live fence nothing is owned: then they are ready.
with @{use fence},
@{use accepted},
queued as (
  insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, behaviour, state, runner_id, epoch)
  select id, tenant_id, workflow_id, version, priority, behaviour, case when exists (select from fence) then 1 else 0 end,
    (select runner_id from fence), case when exists (select from fence) then 1 else 0 end
  from accepted
)
-- A row also when nothing was accepted: the time is news in itself.
select accepted.id, exists (select from fence) as is_owned, clock_timestamp() as at from (select) once left join accepted on true;

-- name: execution_start_held
-- As execution_start, but a rate limit lets it start later: it is parked, and was never claimed.
with @{use accepted},
queued as (
  insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, behaviour, state, due_at, parked_for)
  select a.id, a.tenant_id, a.workflow_id, a.version, a.priority, a.behaviour, 2,
    clock_timestamp() + held.wait_ms * interval '1 millisecond', held.bits
  from accepted a join unnest(@given.id::uuid[], @waits::int[], @bits::smallint[]) held (id, wait_ms, bits) on held.id = a.id
)
select accepted.id, false as is_owned, clock_timestamp() as at from (select) once left join accepted on true;

-- name: execution_existing
select wanted.id as wanted_id, coalesce(same.id, other.id) as execution_id, coalesce(same.workflow_id, other.workflow_id) as workflow_id
from unnest(@executionIds::uuid[], @tenantIds::text[], @requestIds::text[]) wanted (id, tenant_id, request_id)
left join workflow_executions same on same.id = wanted.id
left join workflow_executions other on other.tenant_id = wanted.tenant_id and other.request_id = wanted.request_id
where same.id is not null or other.id is not null;

-- name: execution_claim
-- @tenants, @priorities and @marks (low-water marks) are the lanes; @perLane rows of each, @limit in all. @except: workflows that are left
-- (`tenant/workflow`), unless they have mail: a cancel must not wait for them. Of the rows whose owners crashed @suspicious times or
-- more, @suspects are taken: none is taken that will not run, because a crash would be counted against it. Rows with @lastChance crashes
-- are left, and the lane of one is told; with @alone they are all that is looked for.
-- The mark keeps the scan off dead index entries while a snapshot is held elsewhere (10-13 k/s instead of 4 k/s).
with @{use fence},
picked as materialized (
  select ready.execution_id, ready.crashes, lane.tenant_id, lane.priority
  from unnest(@tenants::text[], @priorities::smallint[], @marks::timestamptz[]) lane (tenant_id, priority, mark)
  cross join lateral (
    select q.execution_id, q.crashes from execution_queue q
    where q.state = 0 and q.tenant_id = lane.tenant_id and q.priority = lane.priority and q.ready_at > lane.mark
      and q.behaviour <= @behaviour::smallint and q.crashes <= @maxCrashes::smallint and exists (select from fence)
      and (not @alone::boolean or q.crashes = @lastChance::smallint)
      and (@except::text[] is null or (q.tenant_id || '/' || q.workflow_id) <> all (@except::text[])
        or exists (select from execution_inbox m where m.execution_id = q.execution_id))
    order by q.ready_at limit @perLane::int for update skip locked
  ) ready
  limit @limit::int
),
suspects as (
  select execution_id, crashes, row_number() over (order by crashes) as place from picked
  where crashes >= @suspicious::smallint and (@alone::boolean or crashes <> @lastChance::smallint)
),
claimed as (
  update execution_queue q
  set state = 1, runner_id = (select runner_id from fence), epoch = q.epoch + 1, due_at = null
  where q.execution_id = any(array(
    select execution_id from picked where crashes < @suspicious::smallint
    union all select execution_id from suspects where place <= @suspects::int))
  returning q.execution_id, q.tenant_id, q.workflow_id, q.version, q.priority, q.epoch, q.crashes, q.ready_at
)
-- A row also when nothing was claimed: the time is news in itself. What was never claimed before has no journal, and all
-- there is to know of it never changes: without mail it needs no execution_load, which would cost as much again as the claim. A large
-- trigger is left to execution_load, which is asked for no more than there is room for.
select claimed.*, clock_timestamp() as at,
  (select priority || ':' || tenant_id from picked where crashes = @lastChance::smallint and not @alone::boolean limit 1) as left_alone,
  @{fresh.execution except id, tenant_id, workflow_id, version, priority}
from (select) once
left join claimed on true
left join workflow_executions fresh on fresh.id = claimed.execution_id and claimed.epoch = 1
  and case when pg_column_compression(fresh.trigger) is null then pg_column_size(fresh.trigger) else octet_length(fresh.trigger::text) end < 65536
  and not exists (select from execution_inbox m where m.execution_id = claimed.execution_id);

-- name: execution_load
-- The whole batch in one query, in a snapshot newer than the claim's. Rows of five kinds, because the text of a json column
-- must arrive as it was written: aggregated into one document it would have to be quoted and parsed twice.
select 0::int as kind, e.id as execution_id, null::int as seq, null::timestamptz as at, null::uuid as message_id, null::text as name,
  null::text as key, null::json as body, @{e.execution except id}
from workflow_executions e where e.id = any(@executionIds::uuid[])
union all
select 1, c.execution_id, c.seq, null, null, null, null, c.state, @{nulls execution except id}
from execution_checkpoints c where c.execution_id = any(@executionIds::uuid[]) and c.decider_version = @deciderVersion::int
union all
select 2, t.execution_id, t.seq, t.at, null, null, null, t.facts, @{nulls execution except id}
from unnest(@executionIds::uuid[]) wanted (id)
cross join lateral (
  -- Ordered here, so that the rows of one execution arrive in the order of its journal.
  select * from execution_events t
  where t.execution_id = wanted.id and t.seq >= coalesce(
    (select c.seq from execution_checkpoints c where c.execution_id = wanted.id and c.decider_version = @deciderVersion::int), 0)
  order by t.seq
) t
union all
select 3, a.execution_id, a.attempt, null, null, a.node_id, null, a.outputs, @{nulls execution except id}
from action_executions a
where a.execution_id = any(@executionIds::uuid[]) and a.outputs is not null and a.status in ('Succeeded', 'Failed', 'TimedOut')
union all
select 4, m.execution_id, null, null, m.id, m.kind, m.key, m.body, @{nulls execution except id}
from unnest(@executionIds::uuid[]) wanted (id)
cross join lateral (
  select * from execution_inbox m where m.execution_id = wanted.id order by m.at, m.id
) m;

-- fragment: weighed
-- Without unpacking what is not packed, which most is not.
cross join lateral (
  select case when pg_column_compression(of.value) is null then coalesce(pg_column_size(of.value), 0) else octet_length(of.value::text) end as bytes
) weight

-- name: execution_load_bytes
-- What execution_load would bring, by about.
select e.id as execution_id, weight.bytes::float8
  + coalesce((select sum(weight.bytes) from (
    select c.state as value from execution_checkpoints c where c.execution_id = e.id
    union all select t.facts from execution_events t where t.execution_id = e.id
    union all select a.outputs from action_executions a where a.execution_id = e.id
    union all select m.body from execution_inbox m where m.execution_id = e.id
  ) of @{use weighed}), 0)::float8 as bytes
from workflow_executions e cross join lateral (select e.trigger as value) of @{use weighed}
where e.id = any(@executionIds::uuid[]);

-- name: execution_inputs
-- Of a whole batch at once: after a burst of callbacks one statement each was most of the time.
select e.execution_id, e.seq, e.inputs from unnest(@executionIds::uuid[], @seqs::int[]) wanted (id, seq)
cross join lateral (select * from execution_events e where e.execution_id = wanted.id and e.seq = wanted.seq offset 0) e;

-- name: execution_commit
-- One atomic statement, no join: a generic plan guesses ten rows per unnest, and a fence by join halved throughput.
-- The fence is locked by the last select, which runs first; then PostgreSQL runs the inserts from the LAST to the first:
-- events come first of all, so that a batch that is sent again meets its own journal key and nothing else (I18), and queue
-- rows are locked before inbox rows, in the order of inbox_send.
-- It never touches the queue row of an execution that its runner does not own: that deadlocked in 32 of 120 batches.
with @{use fence},
@{use outbox},
@{use logs},
@{use links},
@{use sent},
@{use consumed},
children as (
  insert into workflow_executions (@{execution})
  select * from @{children: execution}
  where exists (select from fence)
  returning id, tenant_id, workflow_id, version, priority, behaviour
),
children_queue as (
  insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, behaviour)
  select id, tenant_id, workflow_id, version, priority, behaviour from children
),
@{use outcomes},
progressed as (
  update execution_queue
  set crashes = case when execution_id = any(@crashResets::uuid[]) then 0 else crashes end,
    paused = execution_id = any(@paused::uuid[]) or (paused and execution_id <> all(@resumed::uuid[]))
  where execution_id = any(@crashResets::uuid[] || @paused::uuid[] || @resumed::uuid[]) and execution_id <> all(@ended::uuid[]) and exists (select from fence)
),
@{use ended},
@{use attempts},
@{use events}
select exists (select from fence) as applied, clock_timestamp() as at;

-- name: execution_commit_plain
-- The same for a batch that only advances and ends executions, which is nearly every one. PostgreSQL pays for each table that
-- a statement might write: a commit of one transition takes 0.58 ms instead of 0.87.
with @{use fence},
@{use outbox},
@{use outcomes},
@{use ended},
@{use attempts},
@{use events}
select exists (select from fence) as applied, clock_timestamp() as at;

-- name: execution_commit_progress
-- The same for a batch that ends nothing, which one execution alone sends nine times of ten: less by a fifteenth.
with @{use fence},
@{use outbox},
@{use attempts},
@{use events}
select exists (select from fence) as applied, clock_timestamp() as at;

-- name: execution_commit_step
-- The same for one step of one execution and nothing else, which is what an execution alone sends eight times of ten: scalars,
-- because PostgreSQL sets up a store for every array that it unnests (0.20 instead of 0.31 ms, without the disk).
with @{use fence},
outbox as (
  insert into commit_batches (runner_id, execution_ids, seqs) select runner_id, array[@event.execution_id::uuid], array[@event.seq::int] from fence
),
attempts as (
  insert into action_executions (@{attempt})
  select @{row attempt: attempt}
  from fence
),
events as (
  insert into execution_events (@{event})
  select @{row event: event} from fence
)
select exists (select from fence) as applied, clock_timestamp() as at;

-- name: execution_park
-- Then park_check in a NEW statement: a message sent meanwhile is either seen there, or its sender finds the row parked.
-- Other orders stranded messages (6 of 12,000); this one 0 of 36,000.
with @{use fence},
parked as (
  update execution_queue q
  set state = 2, runner_id = null,
    due_at = (@dueAts::timestamptz[])[array_position(@executionIds::uuid[], q.execution_id)],
    waits = (@waits::smallint[])[array_position(@executionIds::uuid[], q.execution_id)],
    paused = (@paused::boolean[])[array_position(@executionIds::uuid[], q.execution_id)],
    parked_for = (@parkedFor::smallint[])[array_position(@executionIds::uuid[], q.execution_id)]
  -- `state + 0`: by the primary key whatever the statistics say. By queue_owner, everything that the runner owns was read for each
  -- park: 7 ms instead of 0.9.
  where q.execution_id = any(@executionIds::uuid[]) and q.state + 0 = 1 and q.runner_id = (select runner_id from fence)
    -- Not of an earlier claim: this statement may have been on its way for seconds (I5).
    and q.epoch = coalesce((@epochs::int[])[array_position(@executionIds::uuid[], q.execution_id)], q.epoch)
  returning q.execution_id
),
checkpoints as (
  insert into execution_checkpoints (execution_id, seq, decider_version, state)
  select * from unnest(@checkpointIds::uuid[], @checkpointSeqs::int[], @deciderVersions::int[], @states::json[]) c (execution_id, seq, decider_version, state)
  where c.execution_id = any(array(select execution_id from parked))
  on conflict (execution_id) do update set seq = excluded.seq, decider_version = excluded.decider_version, state = excluded.state
)
select array(select execution_id from parked)::text[] as parked, clock_timestamp() as at;

-- name: park_check
update execution_queue set state = 0, ready_at = clock_timestamp(), due_at = null
where state + 0 = 2 and execution_id = any(array(
  select distinct execution_id from execution_inbox where execution_id = any(@executionIds::uuid[])))
returning execution_id;

-- name: execution_release
with @{use fence}
update execution_queue q set state = 0, runner_id = null, ready_at = clock_timestamp()
where q.execution_id = any(@executionIds::uuid[]) and q.state + 0 = 1 and q.runner_id = (select runner_id from fence)
  and q.epoch = coalesce((@epochs::int[])[array_position(@executionIds::uuid[], q.execution_id)], q.epoch)
returning q.execution_id;

-- name: execution_list_owned
select execution_id, epoch from execution_queue where runner_id = @runnerId and state = 1 order by execution_id;

-- name: execution_reopen
-- The outcome goes, the queue row and the message come, in one statement; a dead letter of the execution is settled by it.
-- The outcome is locked first, so that of two reopeners one finds nothing and leaves no trace of its signal.
-- The epoch must be none that the execution had (I5), and its old row is gone: it goes by the number of this transaction. Every
-- claim since the last one was a transaction of its own and added one, so the epochs stay behind these numbers. (By the clock, two
-- reopens in one second gave the same epochs.) Within an int, with room for the claims to come.
with target as materialized (
  select execution_id from execution_outcomes where execution_id = @executionId and tenant_id || '' = @tenantId for update
),
audited as (
  insert into execution_signals (execution_id, signal_id, tenant_id, body)
  select execution_id, @key, @tenantId, @body::json from target where @kind = 'signal'
  on conflict do nothing
  returning execution_id
),
reopened as (
  delete from execution_outcomes
  where execution_id = any(array(select execution_id from target)) and (@kind::text is distinct from 'signal' or exists (select from audited))
  returning execution_id
),
queued as (
  insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, behaviour, epoch, state)
  select e.id, e.tenant_id, e.workflow_id, e.version, e.priority, e.behaviour, 1 + (pg_current_xact_id()::text::bigint % 2000000000)::int,
    case when exists (select from external_runs x where x.execution_id = e.id) then 3 else 0 end
  from workflow_executions e where e.id = any(array(select execution_id from reopened))
),
-- An execution of another engine goes back there, as a new run.
handed_over as (
  update external_runs set look_at = clock_timestamp() where execution_id = any(array(select execution_id from reopened))
),
counted as (
  -- Of a tenant that may have only so many runs at once: this is one of them again.
  insert into tenant_runs (tenant_id, execution_id)
  select e.tenant_id, e.id from workflow_executions e
  where e.id = any(array(select execution_id from reopened)) and e.parent_id is null
    and exists (select from tenant_quotas t where t.tenant_id = @tenantId and t.concurrent_runs is not null)
  on conflict do nothing
),
sent as (
  insert into execution_inbox (id, execution_id, kind, key, body)
  select @messageId::uuid, execution_id, @kind, @key, @body::json from reopened where @messageId::uuid is not null
  on conflict (execution_id, kind, key) do nothing
),
-- Further signals of the same wish (retry every failed step): they come or stay away together.
also_audited as (
  insert into execution_signals (execution_id, signal_id, tenant_id, body)
  select reopened.execution_id, more.key, @tenantId, more.body from reopened cross join unnest(@moreKeys::text[], @moreBodies::json[]) more (key, body)
  on conflict do nothing
),
also_sent as (
  insert into execution_inbox (id, execution_id, kind, key, body)
  select more.id, reopened.execution_id, 'signal', more.key, more.body
  from reopened cross join unnest(@moreIds::uuid[], @moreKeys::text[], @moreBodies::json[]) more (id, key, body)
  on conflict (execution_id, kind, key) do nothing
),
settled as (
  delete from dead_letters where execution_id = any(array(select execution_id from reopened))
)
select exists (select from reopened) as reopened;

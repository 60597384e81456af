-- Executions: start, claim, load, commit, park. The hot path: read the numbers in the comments before changing a line.

-- name: execution_start
-- Many at once. `on conflict do nothing` on every key: a request id that exists is not inserted (the caller looks it up in a
-- new statement, whose snapshot sees the winner), and the same start sent twice finds its own row.
-- $20: only if the version is the one that a start would take now. So what was known about a workflow a moment ago can be used
-- without asking first, which would be a round trip before each insert.
-- $21: the slot of a runner that takes them itself, or null. It saves them the way through the queue, which is a claim (a round trip,
-- and a wait for the disk) and two index entries. Without a live fence nothing is owned: then they are ready.
with fence as materialized (
  select runner_id from runner_slots where id = $21 and state = 'live' for no key update
),
accepted as (
  insert into workflow_executions (id, tenant_id, workflow_id, version, format, priority, behaviour, trigger, spec, principal,
    correlation_id, request_id, parent_id, parent_node, depth, project_id, environment_id, created_at, traceparent)
  select given.id, given.tenant_id, given.workflow_id, given.version, given.format, given.priority, given.behaviour, given.trigger,
    given.spec, given.principal, given.correlation_id, given.request_id, given.parent_id, given.parent_node, given.depth,
    given.project_id, given.environment_id, given.created_at, given.traceparent
  from unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::text[], $6::smallint[], $7::smallint[], $8::json[],
    $9::json[], $10::json[], $11::text[], $12::text[], $13::uuid[], $14::text[], $15::smallint[], $16::text[], $17::text[],
    $18::timestamptz[], $19::text[], $20::boolean[]) given (id, tenant_id, workflow_id, version, format, priority, behaviour, trigger, spec,
    principal, correlation_id, request_id, parent_id, parent_node, depth, project_id, environment_id, created_at, traceparent, if_current)
  -- A scalar, not `exists`: that would be hashed, from all workflows there are.
  where not given.if_current or given.version = (
    select w.current_version from workflows w where w.tenant_id = given.tenant_id and w.id = given.workflow_id
      and w.deleted_at is null and w.status = 'Active' and w.is_enabled)
  on conflict do nothing
  returning id, tenant_id, workflow_id, version, priority, behaviour
),
queued as (
  insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, behaviour, state, runner_id, epoch)
  select id, tenant_id, workflow_id, version, priority, behaviour, case when exists (select from fence) then 1 else 0 end,
    (select runner_id from fence), case when exists (select from fence) then 1 else 0 end
  from accepted
)
-- A row also when nothing was accepted: the time is news in itself.
select accepted.id, exists (select from fence) as is_owned, clock_timestamp() as at from (select) once left join accepted on true;

-- name: execution_existing
select wanted.id as wanted_id, coalesce(same.id, other.id) as execution_id, coalesce(same.workflow_id, other.workflow_id) as workflow_id
from unnest($1::uuid[], $2::text[], $3::text[]) wanted (id, tenant_id, request_id)
left join workflow_executions same on same.id = wanted.id
left join workflow_executions other on other.tenant_id = wanted.tenant_id and other.request_id = wanted.request_id
where same.id is not null or other.id is not null;

-- name: execution_claim
-- $1 slot; $2 tenants, $3 priorities, $4 low-water marks of the lanes; $5 rows per lane, $6 rows in all, $7 behaviour,
-- $8 crashes at most, $9 workflows that are left (`tenant/workflow`), unless they have mail: a cancel must not wait for them.
-- $10 of those whose owners crashed $12 times or more this many, $11 only one if all of them crashed so often: none is taken that
-- will not run, because a crash would be counted against it.
-- The mark keeps the scan off dead index entries while a snapshot is held elsewhere (10-13 k/s instead of 4 k/s).
with fence as materialized (
  select runner_id from runner_slots where id = $1 and state = 'live' for no key update
),
picked as materialized (
  select ready.execution_id, ready.crashes
  from unnest($2::text[], $3::smallint[], $4::timestamptz[]) lane (tenant_id, priority, mark)
  cross join lateral (
    select q.execution_id, q.crashes from execution_queue q
    where q.state = 0 and q.tenant_id = lane.tenant_id and q.priority = lane.priority and q.ready_at > lane.mark
      and q.behaviour <= $7::smallint and q.crashes <= $8::smallint and exists (select from fence)
      and ($9::text[] is null or (q.tenant_id || '/' || q.workflow_id) <> all ($9::text[])
        or exists (select from execution_inbox m where m.execution_id = q.execution_id))
    order by q.ready_at limit $5::int for update skip locked
  ) ready
  limit $6::int
),
suspects as (
  select execution_id, crashes, row_number() over (order by crashes) as place from picked where crashes >= $12::smallint
),
claimed as (
  update execution_queue q
  set state = 1, runner_id = (select runner_id from fence), epoch = q.epoch + 1, due_at = null
  where q.execution_id = any(array(
    select execution_id from picked where crashes < $12::smallint
    union all select execution_id from suspects where place <= $10::int and (crashes < $11::smallint or place = 1)))
  returning q.execution_id, q.tenant_id, q.workflow_id, q.version, q.priority, q.epoch, q.crashes, q.ready_at
)
-- A row also when nothing was claimed: the time is news in itself. What was never claimed before has no journal, and all
-- there is to know of it never changes: without mail it needs no execution_load, which would cost as much again as the claim.
select claimed.*, clock_timestamp() as at, fresh.format, fresh.behaviour, fresh.trigger, fresh.spec,
  fresh.principal, fresh.correlation_id, fresh.request_id, fresh.parent_id, fresh.parent_node, fresh.depth, fresh.project_id,
  fresh.environment_id, fresh.created_at, fresh.traceparent
from (select) once
left join claimed on true
left join workflow_executions fresh on fresh.id = claimed.execution_id and claimed.epoch = 1
  and not exists (select from execution_inbox m where m.execution_id = claimed.execution_id);

-- name: execution_load
-- The whole batch in one query, in a snapshot newer than the claim's. Rows of five kinds, because the text of a json column
-- must arrive as it was written: aggregated into one document it would have to be quoted and parsed twice.
select 0::int as kind, e.id as execution_id, null::int as seq, null::timestamptz as at, null::uuid as message_id, null::text as name,
  null::text as key, null::json as body, e.tenant_id, e.workflow_id, e.version, e.format, e.priority, e.behaviour, e.trigger,
  e.spec, e.principal, e.correlation_id, e.request_id, e.parent_id, e.parent_node, e.depth, e.project_id, e.environment_id,
  e.created_at, e.traceparent
from workflow_executions e where e.id = any($1::uuid[])
union all
select 1, c.execution_id, c.seq, null, null, null, null, c.state, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null
from execution_checkpoints c where c.execution_id = any($1::uuid[]) and c.decider_version = $2::int
union all
select 2, t.execution_id, t.seq, t.at, null, null, null, t.facts, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null
from unnest($1::uuid[]) wanted (id)
cross join lateral (
  -- Ordered here, so that the rows of one execution arrive in the order of its journal.
  select * from execution_events t
  where t.execution_id = wanted.id and t.seq >= coalesce(
    (select c.seq from execution_checkpoints c where c.execution_id = wanted.id and c.decider_version = $2::int), 0)
  order by t.seq
) t
union all
select 3, a.execution_id, a.attempt, null, null, a.node_id, null, a.outputs, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null
from action_executions a
where a.execution_id = any($1::uuid[]) and a.outputs is not null and a.status in ('Succeeded', 'Failed', 'TimedOut')
union all
select 4, m.execution_id, null, null, m.id, m.kind, m.key, m.body, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null
from unnest($1::uuid[]) wanted (id)
cross join lateral (
  select * from execution_inbox m where m.execution_id = wanted.id order by m.at, m.id
) m;

-- name: execution_inputs
select seq, inputs from execution_events where execution_id = $1 and seq = any($2::int[]) order by seq;

-- name: execution_commit
-- One atomic statement, no join: a generic plan guesses ten rows per unnest, and a fence by join halved throughput.
-- The fence is locked by the last select, which runs first; then PostgreSQL runs the inserts from the LAST to the first:
-- events come first of all, so that a batch that is sent again meets its own journal key and nothing else (I18), and queue
-- rows are locked before inbox rows, in the order of inbox_send.
-- It never touches the queue row of an execution that its runner does not own: that deadlocked in 32 of 120 batches.
with fence as materialized (
  select runner_id from runner_slots where id = $1 and state = 'live' for no key update
),
outbox as (
  insert into commit_batches (runner_id, execution_ids, seqs)
  select runner_id, $2::uuid[], $3::int[] from fence where cardinality($2::uuid[]) > 0
),
logs as (
  insert into action_logs (execution_id, node_id, attempt, at, level, message, data)
  select * from unnest($7::uuid[], $8::text[], $9::smallint[], $10::timestamptz[], $11::text[], $12::text[], $13::json[])
  where exists (select from fence)
),
links as (
  insert into workflow_resource_links (tenant_id, system_name, resource_type, resource_id, execution_id, node_id, attempt, external_url)
  select * from unnest($14::text[], $15::text[], $16::text[], $17::text[], $18::uuid[], $19::text[], $20::smallint[], $21::text[])
  where exists (select from fence)
  on conflict do nothing
),
sent as (
  insert into execution_inbox (id, execution_id, kind, key, body)
  select * from unnest($22::uuid[], $23::uuid[], $24::text[], $25::text[], $26::json[])
  where exists (select from fence)
  on conflict (execution_id, kind, key) do nothing
),
consumed as (
  delete from execution_inbox where id = any($27::uuid[]) and exists (select from fence)
),
children as (
  insert into workflow_executions (id, tenant_id, workflow_id, version, format, priority, behaviour, trigger, spec, principal,
    correlation_id, request_id, parent_id, parent_node, depth, project_id, environment_id, created_at, traceparent)
  select * from unnest($28::uuid[], $29::text[], $30::text[], $31::int[], $32::text[], $33::smallint[], $34::smallint[], $35::json[],
    $36::json[], $37::json[], $38::text[], $39::text[], $40::uuid[], $41::text[], $42::smallint[], $43::text[], $44::text[],
    $45::timestamptz[], $46::text[])
  where exists (select from fence)
  returning id, tenant_id, workflow_id, version, priority, behaviour
),
children_queue as (
  insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, behaviour)
  select id, tenant_id, workflow_id, version, priority, behaviour from children
),
outcomes as (
  insert into execution_outcomes (execution_id, tenant_id, status, outputs, error, context_snapshot, started_at, ended_at)
  select * from unnest($47::uuid[], $48::text[], $49::text[], $50::json[], $51::json[], $52::json[], $53::timestamptz[], $54::timestamptz[])
  where exists (select from fence)
),
progressed as (
  update execution_queue
  set crashes = case when execution_id = any($55::uuid[]) then 0 else crashes end,
    paused = execution_id = any($67::uuid[]) or (paused and execution_id <> all($68::uuid[]))
  where execution_id = any($55::uuid[] || $67::uuid[] || $68::uuid[]) and execution_id <> all($56::uuid[]) and exists (select from fence)
),
ended as (
  delete from execution_queue where execution_id = any($56::uuid[]) and exists (select from fence)
),
attempts as (
  insert into action_executions (execution_id, node_id, attempt, action_type, status, started_seq, outputs, error, started_at, ended_at)
  select * from unnest($57::uuid[], $58::text[], $59::smallint[], $60::text[], $61::text[], $62::int[], $63::json[], $64::json[],
    $65::timestamptz[], $66::timestamptz[])
  where exists (select from fence)
),
events as (
  insert into execution_events (execution_id, seq, at, facts, inputs)
  select * from unnest($2::uuid[], $3::int[], $4::timestamptz[], $5::json[], $6::json[])
  where exists (select from fence)
)
select exists (select from fence) as applied, clock_timestamp() as at;

-- name: execution_commit_plain
-- The same for a batch that only advances and ends executions, which is nearly every one. PostgreSQL pays for each table that
-- a statement might write: a commit of one transition takes 0.58 ms instead of 0.87.
with fence as materialized (
  select runner_id from runner_slots where id = $1 and state = 'live' for no key update
),
outbox as (
  insert into commit_batches (runner_id, execution_ids, seqs)
  select runner_id, $2::uuid[], $3::int[] from fence where cardinality($2::uuid[]) > 0
),
outcomes as (
  insert into execution_outcomes (execution_id, tenant_id, status, outputs, error, context_snapshot, started_at, ended_at)
  select * from unnest($7::uuid[], $8::text[], $9::text[], $10::json[], $11::json[], $12::json[], $13::timestamptz[], $14::timestamptz[])
  where exists (select from fence)
),
ended as (
  delete from execution_queue where execution_id = any($15::uuid[]) and exists (select from fence)
),
attempts as (
  insert into action_executions (execution_id, node_id, attempt, action_type, status, started_seq, outputs, error, started_at, ended_at)
  select * from unnest($16::uuid[], $17::text[], $18::smallint[], $19::text[], $20::text[], $21::int[], $22::json[], $23::json[],
    $24::timestamptz[], $25::timestamptz[])
  where exists (select from fence)
),
events as (
  insert into execution_events (execution_id, seq, at, facts, inputs)
  select * from unnest($2::uuid[], $3::int[], $4::timestamptz[], $5::json[], $6::json[])
  where exists (select from fence)
)
select exists (select from fence) as applied, clock_timestamp() as at;

-- name: execution_commit_progress
-- The same for a batch that ends nothing, which one execution alone sends nine times of ten: less by a fifteenth.
with fence as materialized (
  select runner_id from runner_slots where id = $1 and state = 'live' for no key update
),
outbox as (
  insert into commit_batches (runner_id, execution_ids, seqs)
  select runner_id, $2::uuid[], $3::int[] from fence where cardinality($2::uuid[]) > 0
),
attempts as (
  insert into action_executions (execution_id, node_id, attempt, action_type, status, started_seq, outputs, error, started_at, ended_at)
  select * from unnest($7::uuid[], $8::text[], $9::smallint[], $10::text[], $11::text[], $12::int[], $13::json[], $14::json[],
    $15::timestamptz[], $16::timestamptz[])
  where exists (select from fence)
),
events as (
  insert into execution_events (execution_id, seq, at, facts, inputs)
  select * from unnest($2::uuid[], $3::int[], $4::timestamptz[], $5::json[], $6::json[])
  where exists (select from fence)
)
select exists (select from fence) as applied, clock_timestamp() as at;

-- name: execution_commit_step
-- The same for one step of one execution and nothing else, which is what an execution alone sends eight times of ten: scalars,
-- because PostgreSQL sets up a store for every array that it unnests (0.20 instead of 0.31 ms, without the disk).
with fence as materialized (
  select runner_id from runner_slots where id = $1 and state = 'live' for no key update
),
outbox as (
  insert into commit_batches (runner_id, execution_ids, seqs) select runner_id, array[$2::uuid], array[$3::int] from fence
),
attempts as (
  insert into action_executions (execution_id, node_id, attempt, action_type, status, started_seq, outputs, error, started_at, ended_at)
  select $7::uuid, $8::text, $9::smallint, $10::text, $11::text, $12::int, $13::json, $14::json, $15::timestamptz, $16::timestamptz
  from fence
),
events as (
  insert into execution_events (execution_id, seq, at, facts, inputs)
  select $2::uuid, $3::int, $4::timestamptz, $5::json, $6::json from fence
)
select exists (select from fence) as applied, clock_timestamp() as at;

-- name: execution_park
-- Then park_check in a NEW statement: a message sent meanwhile is either seen there, or its sender finds the row parked.
-- Other orders stranded messages (6 of 12,000); this one 0 of 36,000.
with fence as materialized (
  select runner_id from runner_slots where id = $1 and state = 'live' for no key update
),
parked as (
  update execution_queue q
  set state = 2, runner_id = null,
    due_at = ($3::timestamptz[])[array_position($2::uuid[], q.execution_id)],
    waits = ($4::smallint[])[array_position($2::uuid[], q.execution_id)],
    paused = ($5::boolean[])[array_position($2::uuid[], q.execution_id)]
  where q.execution_id = any($2::uuid[]) and q.state = 1 and q.runner_id = (select runner_id from fence)
    -- Not of an earlier claim: this statement may have been on its way for seconds (I5).
    and q.epoch = coalesce(($10::int[])[array_position($2::uuid[], q.execution_id)], q.epoch)
  returning q.execution_id
),
checkpoints as (
  insert into execution_checkpoints (execution_id, seq, decider_version, state)
  select * from unnest($6::uuid[], $7::int[], $8::int[], $9::json[]) c (execution_id, seq, decider_version, state)
  where c.execution_id = any(array(select execution_id from parked))
  on conflict (execution_id) do update set seq = excluded.seq, decider_version = excluded.decider_version, state = excluded.state
)
select array(select execution_id from parked)::text[] as parked, clock_timestamp() as at;

-- name: park_check
update execution_queue set state = 0, ready_at = clock_timestamp(), due_at = null
where state = 2 and execution_id = any(array(
  select distinct execution_id from execution_inbox where execution_id = any($1::uuid[])))
returning execution_id;

-- name: execution_release
with fence as materialized (
  select runner_id from runner_slots where id = $1 and state = 'live' for no key update
)
update execution_queue q set state = 0, runner_id = null, ready_at = clock_timestamp()
where q.execution_id = any($2::uuid[]) and q.state = 1 and q.runner_id = (select runner_id from fence)
  and q.epoch = coalesce(($3::int[])[array_position($2::uuid[], q.execution_id)], q.epoch)
returning q.execution_id;

-- name: execution_list_owned
select execution_id, epoch from execution_queue where runner_id = $1 and state = 1 order by execution_id;

-- name: execution_reopen
-- The outcome goes, the queue row and the message come, in one statement; a dead letter of the execution is settled by it.
-- The outcome is locked first, so that of two reopeners one finds nothing and leaves no trace of its signal.
-- The epoch must be none that the execution had (I5), and its old row is gone: it goes by the number of this transaction. Every
-- claim since the last one was a transaction of its own and added one, so the epochs stay behind these numbers. (By the clock, two
-- reopens in one second gave the same epochs.) Within an int, with room for the claims to come.
with target as materialized (
  select execution_id from execution_outcomes where execution_id = $1 and tenant_id = $2 for update
),
audited as (
  insert into execution_signals (execution_id, signal_id, tenant_id, body)
  select execution_id, $5, $2, $6::json from target where $4 = 'signal'
  on conflict do nothing
  returning execution_id
),
reopened as (
  delete from execution_outcomes
  where execution_id = any(array(select execution_id from target)) and ($4::text is distinct from 'signal' or exists (select from audited))
  returning execution_id
),
queued as (
  insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, behaviour, epoch)
  select e.id, e.tenant_id, e.workflow_id, e.version, e.priority, e.behaviour, 1 + (pg_current_xact_id()::text::bigint % 2000000000)::int
  from workflow_executions e where e.id = any(array(select execution_id from reopened))
),
counted as (
  -- Of a tenant that may have only so many runs at once: this is one of them again.
  insert into tenant_runs (tenant_id, execution_id)
  select e.tenant_id, e.id from workflow_executions e
  where e.id = any(array(select execution_id from reopened)) and e.parent_id is null
    and exists (select from tenant_quotas t where t.tenant_id = $2 and t.concurrent_runs is not null)
  on conflict do nothing
),
sent as (
  insert into execution_inbox (id, execution_id, kind, key, body)
  select $3::uuid, execution_id, $4, $5, $6::json from reopened where $3::uuid is not null
  on conflict (execution_id, kind, key) do nothing
),
-- Further signals of the same wish (retry every failed step): they come or stay away together.
also_audited as (
  insert into execution_signals (execution_id, signal_id, tenant_id, body)
  select reopened.execution_id, more.key, $2, more.body from reopened cross join unnest($8::text[], $9::json[]) more (key, body)
  on conflict do nothing
),
also_sent as (
  insert into execution_inbox (id, execution_id, kind, key, body)
  select more.id, reopened.execution_id, 'signal', more.key, more.body
  from reopened cross join unnest($7::uuid[], $8::text[], $9::json[]) more (id, key, body)
  on conflict (execution_id, kind, key) do nothing
),
settled as (
  delete from dead_letters where execution_id = any(array(select execution_id from reopened))
)
select exists (select from reopened) as reopened;

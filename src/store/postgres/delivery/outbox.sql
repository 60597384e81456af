-- The outbox of executions: every commit leaves a row in commit_batches; one leader turns them into messages, in id order.

-- name: outbox_lead
insert into outbox_leadership as l (id, leader_id, expires_at)
values (1, $1, clock_timestamp() + make_interval(secs => $2::float8 / 1000))
on conflict (id) do update set leader_id = excluded.leader_id, expires_at = excluded.expires_at
where l.leader_id = excluded.leader_id or l.expires_at < clock_timestamp()
returning leader_id;

-- name: outbox_read
select id as batch_id, at from commit_batches order by id limit $1::int;

-- name: outbox_read_facts
-- A transition of an execution is committed after the one before it was, so the order of ids is the order of each execution.
-- How often it was reopened is counted only where it ends. The runId of a plan's caller is kept as its request.
select b.id as batch_id, b.at as batch_at, r.execution_id, r.seq, t.at, t.facts, e.tenant_id, e.workflow_id, e.version, e.project_id,
  e.environment_id, e.correlation_id, x.driver, x.ref,
  case when e.format = 'plan' then coalesce(e.request_id, e.id::text) else e.id::text end as run_id,
  case when t.facts::text ~ '"type"\s*:\s*"Execution(Succeeded|Failed|Cancelled|TimedOut)"' then (
    select count(*)::int from execution_events x cross join lateral json_array_elements(x.facts) f (fact)
    where x.execution_id = r.execution_id and x.seq <= r.seq and x.facts::text like '%"ExecutionReopened"%'
      and f.fact::text ~ '^\s*\{\s*"type"\s*:\s*"ExecutionReopened"'
  ) else 0 end as reopens
from (select * from commit_batches order by id limit $1::int) b
cross join lateral unnest(b.execution_ids, b.seqs) with ordinality r (execution_id, seq, place)
left join lateral (select t.at, t.facts from execution_events t where t.execution_id = r.execution_id and t.seq = r.seq offset 0) t on true
left join lateral (select * from workflow_executions e where e.id = r.execution_id offset 0) e on true
left join lateral (select x.driver, x.ref from external_runs x where x.execution_id = r.execution_id offset 0) x on true
order by b.id, r.place;

-- name: outbox_again
-- Every transition of one execution, as outbox_read_facts gives those of a batch: for events that are told once more.
select r.execution_id, r.seq, r.at, r.facts, e.tenant_id, e.workflow_id, e.version, e.project_id, e.environment_id, e.correlation_id, x.driver, x.ref,
  case when e.format = 'plan' then coalesce(e.request_id, e.id::text) else e.id::text end as run_id,
  case when r.facts::text ~ '"type"\s*:\s*"Execution(Succeeded|Failed|Cancelled|TimedOut)"' then (
    select count(*)::int from execution_events b cross join lateral json_array_elements(b.facts) f (fact)
    where b.execution_id = r.execution_id and b.seq <= r.seq and f.fact ->> 'type' = 'ExecutionReopened'
  ) else 0 end as reopens
from workflow_executions e
join execution_events r on r.execution_id = e.id
left join external_runs x on x.execution_id = e.id
where e.id = $2::uuid and e.tenant_id = $1
order by r.seq;

-- name: outbox_tell
-- $1 to $12 messages, $13 to $17 deliveries.
with written as (
  insert into messages (ack_guid, tenant_id, kind, subject_id, seq, env, source, event, body, on_succeeded, on_failed, consumers, open_consumers)
  select m.*, m.consumers
  from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::int[], $6::text[], $7::text[], $8::text[], $9::json[],
    $10::text[], $11::text[], $12::int[])
    m (ack_guid, tenant_id, kind, subject_id, seq, env, source, event, body, on_succeeded, on_failed, consumers)
)
insert into deliveries (ack_guid, consumer_id, subject_id, seq, is_held, next_attempt_at)
select d.*, now()
from unnest($13::uuid[], $14::int[], $15::uuid[], $16::int[], $17::boolean[]) d (ack_guid, consumer_id, subject_id, seq, is_held);

-- name: outbox_listeners
-- Event triggers, and executions that wait. Of a hundred thousand waits, one probe for each tenant and type (event_wait_own).
with recursive waited (tenant_id, event_type) as (
  (select tenant_id, event_type from event_waits where event_type ~ '^(Run|Step|Alert)[A-Z]'
   order by tenant_id, event_type limit 1)
  union all
  select other.tenant_id, other.event_type from waited cross join lateral (
    select e.tenant_id, e.event_type from event_waits e
    where e.event_type ~ '^(Run|Step|Alert)[A-Z]' and (e.tenant_id, e.event_type) > (waited.tenant_id, waited.event_type)
    order by e.tenant_id, e.event_type limit 1
  ) other
)
select tenant_id, event_type from workflow_triggers
where trigger_type = 'Event' and is_enabled and event_type = any($1::text[])
union
select tenant_id, event_type from waited where event_type = any($1::text[]);

-- name: outbox_publish
-- $1 leader, $2 batches, $3 to $14 messages, $15 to $19 deliveries. Both or neither: whoever lost the leadership, or sends the
-- same again, finds nothing to publish.
with leader as materialized (
  select id from outbox_leadership where id = 1 and leader_id = $1 for no key update
),
-- Locked, not only read: of what somebody deleted meanwhile nothing comes back.
batches as materialized (
  select b.id from commit_batches b
  where b.id = any($2::bigint[]) and exists (select from leader)
  for update
),
complete as materialized (
  select from batches having count(*) = cardinality($2::bigint[])
),
taken as (
  delete from commit_batches where id = any(array(select id from batches)) and exists (select from complete)
),
written as (
  insert into messages (ack_guid, tenant_id, kind, subject_id, seq, env, source, event, body, on_succeeded, on_failed, consumers, open_consumers)
  select m.*, m.consumers
  from unnest($3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::int[], $8::text[], $9::text[], $10::text[], $11::json[],
    $12::text[], $13::text[], $14::int[])
    m (ack_guid, tenant_id, kind, subject_id, seq, env, source, event, body, on_succeeded, on_failed, consumers)
  where exists (select from complete)
),
sent as (
  insert into deliveries (ack_guid, consumer_id, subject_id, seq, is_held, next_attempt_at)
  select d.*, case when d.is_held then now() + interval '30 seconds' else now() end
  from unnest($15::uuid[], $16::int[], $17::uuid[], $18::int[], $19::boolean[]) d (ack_guid, consumer_id, subject_id, seq, is_held)
  where exists (select from complete)
)
select exists (select from complete) as applied;

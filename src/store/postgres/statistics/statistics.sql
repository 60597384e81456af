-- Statistics: added to by runners every ten seconds, read by dashboards. Arrays come as text, because arrays of arrays must be square.

-- name: execution_stats_add
-- One grain at a time. Sorted, so that two runners that add the same rows never wait for each other in a circle.
insert into execution_stats as s (tenant_id, grain, at, workflow_id, version, started, succeeded, failed, timed_out, cancelled, durations, waits)
select given.tenant_id, $12::smallint, given.at, given.workflow_id, given.version, given.started, given.succeeded,
  given.failed, given.timed_out, given.cancelled, given.durations::int[], given.waits::int[]
from unnest($1::text[], $2::timestamptz[], $3::text[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[], $9::int[], $10::text[], $11::text[])
  given (tenant_id, at, workflow_id, version, started, succeeded, failed, timed_out, cancelled, durations, waits)
order by 1, 3, 4, 5
on conflict (tenant_id, grain, at, workflow_id, version) do update set
  started = s.started + excluded.started, succeeded = s.succeeded + excluded.succeeded, failed = s.failed + excluded.failed,
  timed_out = s.timed_out + excluded.timed_out, cancelled = s.cancelled + excluded.cancelled,
  durations = array(select coalesce(a.held, 0) + coalesce(a.added, 0) from unnest(s.durations, excluded.durations) with ordinality a (held, added, place) order by a.place),
  waits = array(select coalesce(a.held, 0) + coalesce(a.added, 0) from unnest(s.waits, excluded.waits) with ordinality a (held, added, place) order by a.place);

-- name: action_stats_add
insert into action_stats as s (tenant_id, grain, at, action_type, started, succeeded, failed, timed_out, cancelled, durations, waits)
select given.tenant_id, $11::smallint, given.at, given.action_type, given.started, given.succeeded,
  given.failed, given.timed_out, given.cancelled, given.durations::int[], given.waits::int[]
from unnest($1::text[], $2::timestamptz[], $3::text[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[], $9::text[], $10::text[])
  given (tenant_id, at, action_type, started, succeeded, failed, timed_out, cancelled, durations, waits)
order by 1, 3, 4
on conflict (tenant_id, grain, at, action_type) do update set
  started = s.started + excluded.started, succeeded = s.succeeded + excluded.succeeded, failed = s.failed + excluded.failed,
  timed_out = s.timed_out + excluded.timed_out, cancelled = s.cancelled + excluded.cancelled,
  durations = array(select coalesce(a.held, 0) + coalesce(a.added, 0) from unnest(s.durations, excluded.durations) with ordinality a (held, added, place) order by a.place),
  waits = array(select coalesce(a.held, 0) + coalesce(a.added, 0) from unnest(s.waits, excluded.waits) with ordinality a (held, added, place) order by a.place);

-- name: failure_groups_add
insert into failure_groups as f (tenant_id, at, fingerprint, workflow_id, node_id, code, message, count, first_at, last_at, sample_id)
select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::timestamptz[],
  $10::timestamptz[], $11::uuid[]) given order by 1, 2, 3
on conflict (tenant_id, at, fingerprint) do update set
  count = f.count + excluded.count, first_at = least(f.first_at, excluded.first_at), last_at = greatest(f.last_at, excluded.last_at),
  sample_id = excluded.sample_id, message = excluded.message;

-- name: stats_purge
with executions as (
  delete from execution_stats where (grain = 0 and at < now() - interval '2 days') or (grain = 1 and at < now() - interval '90 days')
),
actions as (
  delete from action_stats where (grain = 0 and at < now() - interval '2 days') or (grain = 1 and at < now() - interval '90 days')
)
delete from failure_groups where at < now() - interval '30 days';

-- name: execution_stats_read
select tenant_id, workflow_id, version, at, started, succeeded, failed, timed_out, cancelled, durations::text as durations, waits::text as waits
from execution_stats
where tenant_id = $1 and grain = $2::smallint and at >= $3 and at < $4 and ($5::text[] is null or workflow_id = any($5))
order by at, workflow_id, version limit $6::int;

-- name: action_stats_read
select tenant_id, action_type, at, started, succeeded, failed, timed_out, cancelled, durations::text as durations, waits::text as waits
from action_stats
where tenant_id = $1 and grain = $2::smallint and at >= $3 and at < $4 and ($5::text[] is null or action_type = any($5))
order by at, action_type limit $6::int;

-- name: failure_groups_read
select f.fingerprint, f.workflow_id, f.node_id, f.code, (array_agg(f.message order by f.at desc))[1] as message, sum(f.count)::int as count,
  min(f.first_at) as first_at, max(f.last_at) as last_at, (array_agg(f.sample_id order by f.at desc))[1] as sample_id
from failure_groups f
where f.tenant_id = $1 and f.at >= $2::timestamptz - interval '5 minutes' and f.last_at >= $2 and ($3::text is null or f.workflow_id = $3)
group by f.fingerprint, f.workflow_id, f.node_id, f.code
order by count desc, last_at desc limit $4::int;

-- Operations: dead letters, retention, the clock, keys.

-- name: dead_letter_add
-- One statement under the fence, and only for a row that this runner owns (I4, I20).
with fence as materialized (
  select runner_id from runner_slots where id = $1 and state = 'live' for no key update
),
removed as (
  delete from execution_queue
  where execution_id = $2 and state = 1 and runner_id = (select runner_id from fence)
  returning execution_id
),
outcome as (
  insert into execution_outcomes (execution_id, tenant_id, status, outputs, error, context_snapshot, started_at, ended_at)
  select execution_id, $3, $4, $5::json, $6::json, $7::json, $8::timestamptz, $9::timestamptz from removed
  on conflict do nothing
),
letter as (
  insert into dead_letters (tenant_id, execution_id, reason, payload, attempts, last_error)
  select $3, execution_id, $10, $11::json, $12::int, $13 from removed where $24::boolean
  on conflict do nothing
),
event as (
  insert into execution_events (execution_id, seq, at, facts, inputs)
  select e.* from unnest($14::uuid[], $15::int[], $16::timestamptz[], $17::json[], $18::json[]) e where exists (select from removed)
),
sent as (
  insert into execution_inbox (id, execution_id, kind, key, body)
  select m.* from unnest($19::uuid[], $20::uuid[], $21::text[], $22::text[], $23::json[]) m where exists (select from removed)
  on conflict (execution_id, kind, key) do nothing
),
outbox as (
  insert into commit_batches (runner_id, execution_ids, seqs)
  select runner_id, $14::uuid[], $15::int[] from fence where cardinality($14::uuid[]) > 0 and exists (select from removed)
)
select exists (select from removed) as applied;

-- name: dead_letter_note
-- The execution goes on: only the letter is written, under the fence and for a row that this runner owns (I4).
with fence as materialized (
  select runner_id from runner_slots where id = $1 and state = 'live' for no key update
),
owned as (
  select execution_id from execution_queue
  where execution_id = $2 and state = 1 and runner_id = (select runner_id from fence)
),
letter as (
  insert into dead_letters (tenant_id, execution_id, reason, payload, attempts, last_error)
  select $3, execution_id, $4, $5::json, $6::int, $7 from owned
  on conflict do nothing
)
select exists (select from owned) as applied;

-- name: execution_undoing
-- Once in the life of an execution, and for people to see: progress never touches this row.
update execution_queue q set compensating = true
where q.execution_id = $2 and q.state = 1
  and q.runner_id = (select s.runner_id from runner_slots s where s.id = $1 and s.state = 'live')
returning q.execution_id;

-- name: dead_letter_list
select id, execution_id, trigger_id, request_id, enqueued_at, reason, payload, attempts, last_error from dead_letters
where tenant_id = $1 and id > $2 order by id limit $3;

-- name: dead_letter_list_all
-- Of every tenant, along the primary key.
select id, tenant_id, execution_id, trigger_id, request_id, enqueued_at, reason, payload, attempts, last_error from dead_letters
where id > $1 order by id limit $2;

-- name: dead_letter_purge
delete from dead_letters where tenant_id = $1 and ($2::bigint[] is null or id = any($2::bigint[])) returning id;

-- name: retention_purge
-- In id order. What a live execution or a dead letter refers to stays (I24): its ended parent, its ended children.
-- So does what may have ended after the oldest commit that is not published yet: its journal is still to be told. An outcome's
-- time is from before its commit, by less than an hour.
-- $3: no id is older than this one's time, and ids begin with the time, so what is too young is never looked at.
with doomed as materialized (
  select o.execution_id from execution_outcomes o
  where o.ended_at < $1::timestamptz and o.execution_id < $3::uuid
    and o.ended_at < coalesce((select b.at - interval '1 hour' from commit_batches b order by b.id limit 1), 'infinity')
    and not exists (select from dead_letters d where d.execution_id = o.execution_id)
    and not exists (select from workflow_executions e join execution_queue q on q.execution_id = e.parent_id where e.id = o.execution_id)
    and not exists (select from workflow_executions c join execution_queue q on q.execution_id = c.id where c.parent_id = o.execution_id)
  order by o.execution_id limit $2::int
  for update of o skip locked
),
outcomes as (delete from execution_outcomes where execution_id = any(array(select execution_id from doomed))),
executions as (
  delete from workflow_executions where id = any(array(select execution_id from doomed)) returning tenant_id, workflow_id, version, format
),
events as (delete from execution_events where execution_id = any(array(select execution_id from doomed))),
attempts as (delete from action_executions where execution_id = any(array(select execution_id from doomed))),
checkpoints as (delete from execution_checkpoints where execution_id = any(array(select execution_id from doomed))),
messages as (delete from execution_inbox where execution_id = any(array(select execution_id from doomed))),
external_runs as (delete from external_runs where execution_id = any(array(select execution_id from doomed))),
signals as (delete from execution_signals where execution_id = any(array(select execution_id from doomed))),
links as (delete from workflow_resource_links where execution_id = any(array(select execution_id from doomed))),
logs as (delete from action_logs where execution_id = any(array(select execution_id from doomed)))
select (select count(*)::int from doomed) as purged, coalesce(json_agg(used), '[]') as plans
from (select distinct tenant_id, workflow_id, version from executions where format = 'plan') used;

-- name: plan_version_purge
-- A planner makes a version for nearly every run. One that is not current, and that no execution refers to any more, goes with the last of
-- them (I24). Not while the workflow changes: a start may have found the version a moment ago.
delete from workflow_definitions d
using unnest($1::text[], $2::text[], $3::int[]) used (tenant_id, workflow_id, version)
where d.tenant_id = used.tenant_id and d.workflow_id = used.workflow_id and d.version = used.version and d.format = 'plan'
  and not exists (select from workflow_executions e
    where e.tenant_id = d.tenant_id and e.workflow_id = d.workflow_id and e.version = d.version)
  and exists (select from workflows w
    where w.tenant_id = d.tenant_id and w.id = d.workflow_id and w.current_version is distinct from d.version
      and w.updated_at < now() - interval '1 hour');

-- name: runner_purge
-- Incarnations that ended a day ago and own nothing: every start leaves one, however long executions are kept.
with gone as materialized (
  select l.runner_id from runner_leases l
  where l.expires_at < now() - interval '1 day'
    and not exists (select from runner_slots s where s.runner_id = l.runner_id and s.state = 'live')
    and not exists (select from execution_queue q where q.runner_id = l.runner_id and q.state = 1)
  limit 1000
),
slots as (delete from runner_slots where runner_id = any(array(select runner_id from gone))),
leases as (delete from runner_leases where runner_id = any(array(select runner_id from gone)))
delete from runners where id = any(array(select runner_id from gone));

-- name: secret_create
insert into engine_secrets (name, value) values ($1, $2) on conflict (name) do nothing;

-- name: secret_get
select value from engine_secrets where name = $1;

-- name: clock_now
select clock_timestamp() as at;

-- name: database_profile
-- Roles and databases may have a limit of their own (-1: none); some connections are kept for superusers and their like. What other
-- programs hold is not ours to use. 'reserved_connections' is new in PostgreSQL 16.
select current_setting('server_version_num')::int as version, clock_timestamp() as at,
  (select pg_encoding_to_char(encoding) from pg_database where datname = current_database()) as encoding,
  current_setting('max_connections')::int as max_connections,
  least(
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0),
    (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
    (select nullif(datconnlimit, -1) from pg_database where datname = current_database())) as usable_connections,
  (select count(*)::int from pg_stat_activity
    where backend_type = 'client backend' and coalesce(application_name, '') not like 'pawl%') as other_connections,
  current_user::text as role,
  to_regnamespace(quote_ident($1)) is not null as has_schema,
  -- A schema that is not there yet is made, which is a right on the database.
  case when to_regnamespace(quote_ident($1)) is null then has_database_privilege(current_database(), 'CREATE')
    else has_schema_privilege($1, 'CREATE') end as may_create,
  to_regclass(format('%I.runner_leases', $1::text)) is not null as has_tables;

-- name: runner_count_live
select count(*)::int as live from runner_leases l
where exists (select from runner_slots s where s.runner_id = l.runner_id and s.state = 'live');

-- name: session_settings
select name, current_setting(name) as value from unnest($1::text[]) as name;

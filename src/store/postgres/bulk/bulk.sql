-- Actions on many executions.

-- name: bulk_create
insert into bulk_actions (id, tenant_id, request_id, action, selection, version, reason, actor, correlation_id, count, is_capped)
values ($1, $2, $3, $4, $5::json, $6, $7, $8, $9, $10, $11)
on conflict (tenant_id, request_id) do nothing returning id;

-- name: bulk_get
select id, tenant_id, request_id, action, selection, version, reason, actor, correlation_id, state, count, is_capped, done, failed, skipped,
  last_error, cursor, created_at, ended_at
from bulk_actions where id = any(array(
  select id from bulk_actions where id = $2::uuid and tenant_id || '' = $1
  union all (
    -- A range and an order that only the index of request ids has: so it is used whatever the statistics say.
    select id from bulk_actions where tenant_id = $1 and request_id >= $3::text and request_id <= $3::text order by request_id limit 1)));

-- name: bulk_list
select id, tenant_id, request_id, action, selection, version, reason, actor, correlation_id, state, count, is_capped, done, failed, skipped,
  last_error, cursor, created_at, ended_at
-- In the order of bulk_newest, within the tenant: no other index looks cheaper, whatever the statistics say.
from bulk_actions where tenant_id >= $1 and (tenant_id, id) < ($1, $2::uuid) order by tenant_id desc, id desc limit $3::int;

-- name: bulk_claim
-- Tenants take turns (I22): of the tenant that nobody has worked for the longest, the action that has waited the longest. What is
-- done counts too, so that a stream of small actions does not come before a large one again and again.
update bulk_actions b set claimed_until = clock_timestamp() + make_interval(secs => $1::float8 / 1000)
where b.id = (
  select c.id from bulk_actions c
  where c.state = 'running' and (c.claimed_until is null or c.claimed_until < now())
  order by (
    select max(r.claimed_until) from (
      select t.claimed_until from bulk_actions t where t.tenant_id = c.tenant_id order by t.id desc limit 100) r) nulls first,
    c.claimed_until nulls first, c.id
  limit 1 for update skip locked)
returning id, tenant_id, request_id, action, selection, version, reason, actor, correlation_id, state, count, is_capped, done, failed, skipped,
  last_error, cursor, created_at, ended_at;

-- name: bulk_progress
-- What has stopped is not moved on.
update bulk_actions set done = done + $2::int, failed = failed + $3::int, skipped = skipped + $4::int,
  last_error = coalesce($5::text, last_error), cursor = coalesce($6::uuid, cursor),
  state = case when $7::boolean then 'done' else state end, ended_at = case when $7::boolean then clock_timestamp() end,
  claimed_until = clock_timestamp() + make_interval(secs => $8::float8 / 1000)
where id = $1 and state = 'running'
returning id;

-- name: bulk_stop
update bulk_actions set state = 'stopped', ended_at = clock_timestamp() where tenant_id || '' = $1 and id = $2 and state = 'running' returning id;

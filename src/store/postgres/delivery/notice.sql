-- Notices of all processes, kept for a day.

-- name: notice_add
-- Ids are given out under a lock that is held to the commit: whoever read up to an id never misses a smaller one.
with gate as materialized (
  select pg_advisory_xact_lock(7296150412)
)
insert into notices (tenant_id, kind, body, at)
select n.* from gate cross join unnest($1::text[], $2::text[], $3::json[], $4::timestamptz[]) n
returning id;

-- name: notice_list
select id, tenant_id, kind, body, at from notices where tenant_id = $1 and id > $2::bigint order by id limit $3::int;

-- name: notice_get
-- Those of other processes, for the listeners of this one.
select id, tenant_id, kind, body, at from notices where id = any($1::bigint[]) order by id;

-- name: notice_newest
select * from (
  select id, tenant_id, kind, body, at from notices where tenant_id = $1 order by id desc limit $2::int
) newest order by id;

-- name: notice_purge
delete from notices where id = any(array(
  select id from notices where at < clock_timestamp() - interval '1 day' order by at limit $1::int));

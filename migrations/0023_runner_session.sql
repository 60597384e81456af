-- A runner that is killed is known at once: its lease is also guarded by a lock of the session that renews it, which PostgreSQL gives
-- free the moment the process is gone.

-- up
-- The session that renewed last holds the lock.
alter table runner_leases add column guarded boolean not null default false;

-- The locks that guard leases in this schema, and since when their sessions exist.
create view runner_sessions as
select l.objid::bigint as runner_key, a.backend_start as since
from pg_locks l left join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'advisory' and l.objsubid = 2 and l.granted
  and l.database = (select d.oid from pg_database d where d.datname = current_database())
  and l.classid = (hashtext('pawl runner ' || current_schema())::bigint & 4294967295)::oid;

-- down

drop view runner_sessions;
alter table runner_leases drop column guarded;

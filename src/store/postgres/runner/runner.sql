-- Runners: fence rows and leases (I4, I6).

-- name: runner_register
with runner as (
  insert into runners (name, behaviour, host, version) values ($1, $4, $5, $6) returning id
),
slots as (
  insert into runner_slots (runner_id) select runner.id from runner cross join generate_series(1, $2::int) returning id
),
lease as (
  insert into runner_leases (runner_id, expires_at)
  select id, clock_timestamp() + $3::float8 * interval '1 millisecond' from runner
)
select (select id from runner) as runner_id, array(select id from slots order by id)::text[] as slot_ids, clock_timestamp() as at;

-- name: lease_renew
-- Reads the fence rows without locking them: a renewal never waits for a commit. A runner that is declared dead at this
-- very moment hears it from its next statement, which applies nothing.
-- $3: this very session is to guard the lease. Its lock is the one that the view runner_sessions shows; taking it again costs nothing.
with lease as (
  update runner_leases set expires_at = clock_timestamp() + $2::float8 * interval '1 millisecond',
    guarded = $3 and pg_try_advisory_lock(hashtext('pawl runner ' || current_schema()), ($1::bigint & 2147483647)::int)
  where runner_id = $1 and exists (select from runner_slots where runner_id = $1 and state = 'live')
  returning runner_id
)
select exists (select from lease) as renewed, clock_timestamp() as at;

-- name: runner_list_live
-- The live runners, and whose lease has ended for $1 ms. A lease whose session is gone ends in $3 ms: time enough for a runner that
-- lost only its connection to renew. A restart of the server takes all sessions at once, so only a runner ($2) whose own session is
-- older than $4 ms says so.
with live as materialized (
  select l.runner_id, l.expires_at, l.guarded from runner_leases l
  where exists (select from runner_slots s where s.runner_id = l.runner_id and s.state = 'live')
),
-- Only looked at where somebody else's lease is guarded.
session as materialized (
  select s.runner_key, s.since from runner_sessions s
  where (select bool_or(guarded) from live where runner_id <> $2::bigint)
),
shortened as (
  update runner_leases l set expires_at = least(l.expires_at, clock_timestamp() + $3::float8 * interval '1 millisecond'), guarded = false
  where l.guarded and l.runner_id <> $2::bigint and l.runner_id = any(array(select runner_id from live))
    and not exists (select from session s where s.runner_key = l.runner_id & 2147483647)
    and exists (select from session s where s.runner_key = $2::bigint & 2147483647
      and s.since < clock_timestamp() - $4::float8 * interval '1 millisecond')
)
select runner_id, expires_at < clock_timestamp() - $1::float8 * interval '1 millisecond' as expired from live order by runner_id;

-- name: runner_fence
-- Waits for the commits in flight: they hold these rows. The release that follows in the same transaction is a statement of
-- its own, because it must see what those commits and claims wrote.
update runner_slots set state = $2 where runner_id = $1 and state = 'live'
  and ($3::float8 is null or exists (
    select from runner_leases l
    where l.runner_id = $1 and l.expires_at < clock_timestamp() - $3::float8 * interval '1 millisecond'))
returning id;

-- name: runner_release
-- $3 ms: what saw its runner crash before ($4 times or more) may be the cause, and comes back only after a pause; 0: at once.
-- Past $5 crashes an execution counts as the cause. Only one that was alone in the runner gets there: any of several may be it.
with owned as materialized (select execution_id from execution_queue where runner_id = $1 and state = 1)
update execution_queue set runner_id = null, ready_at = clock_timestamp(),
  crashes = case when (select count(*) from owned) = 1 then least(crashes + $2::int, 32767)
    else greatest(crashes, least(crashes + $2::int, $5::int)) end,
  state = case when $3::float8 > 0 and crashes + $2::int >= $4::int then 2 else 0 end,
  due_at = case when $3::float8 > 0 and crashes + $2::int >= $4::int then clock_timestamp() + $3::float8 * interval '1 millisecond' end
where runner_id = $1 and state = 1
returning execution_id;

-- name: runner_report
-- How busy it is, and whether somebody has asked it to drain. Nothing depends on the numbers; they are written when they change.
with told as (
  update runners set places = $2, busy = $3 where id = $1 and (places, busy) is distinct from ($2::int, $3::int)
)
select drain_asked_at is not null as draining from runners where id = $1;

-- name: runner_drain
update runners set drain_asked_at = coalesce(drain_asked_at, clock_timestamp())
where id = $1 and exists (select from runner_slots s where s.runner_id = $1 and s.state = 'live')
returning id;

-- name: runner_list
select r.id as runner_id, r.name, r.registered_at, r.host, r.version, r.places, r.busy, r.drain_asked_at is not null as is_draining,
  coalesce(l.expires_at, r.registered_at) as lease_expires_at, coalesce(l.expires_at > clock_timestamp(), false) as has_lease,
  -- All slots change together, so any of them tells the state.
  coalesce((select s.state from runner_slots s where s.runner_id = r.id limit 1), 'dead') as state,
  (select count(*)::int from execution_queue q where q.runner_id = r.id and q.state = 1) as owned
from runners r
left join runner_leases l on l.runner_id = r.id
order by r.id;

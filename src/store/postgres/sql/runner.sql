-- Runners: fence rows and leases (I4, I6).

-- name: runner_register
with runner as (
  insert into runners (name) values ($1) returning id
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
with lease as (
  update runner_leases set expires_at = clock_timestamp() + $2::float8 * interval '1 millisecond'
  where runner_id = $1 and exists (select from runner_slots where runner_id = $1 and state = 'live')
  returning runner_id
)
select exists (select from lease) as renewed, clock_timestamp() as at;

-- name: runner_list_expired
select l.runner_id from runner_leases l
where l.expires_at < clock_timestamp() - $1::float8 * interval '1 millisecond'
  and exists (select from runner_slots s where s.runner_id = l.runner_id and s.state = 'live')
order by l.runner_id;

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
update execution_queue set runner_id = null, ready_at = clock_timestamp(), crashes = least(crashes + $2::int, 32767),
  state = case when $3::float8 > 0 and crashes + $2::int >= $4::int then 2 else 0 end,
  due_at = case when $3::float8 > 0 and crashes + $2::int >= $4::int then clock_timestamp() + $3::float8 * interval '1 millisecond' end
where runner_id = $1 and state = 1
returning execution_id;

-- name: runner_list
select r.id as runner_id, r.name, coalesce(l.expires_at, r.registered_at) as lease_expires_at,
  -- All slots change together, so any of them tells the state.
  coalesce((select s.state from runner_slots s where s.runner_id = r.id limit 1), 'dead') as state,
  (select count(*)::int from execution_queue q where q.runner_id = r.id and q.state = 1) as owned
from runners r
left join runner_leases l on l.runner_id = r.id
order by r.id;

-- Triggers, the times of schedules, and what became of every firing.

-- name: trigger_add
insert into workflow_triggers (id, tenant_id, workflow_id, trigger_type, is_enabled, config, activation_condition, event_type, secrets)
select $1, w.tenant_id, w.id, $4, $5, $6::json, $7, $8, $9::text[]
from workflows w where w.tenant_id = $2 and w.id = $3 and w.deleted_at is null
returning id;

-- name: trigger_change
-- $3 enabled, $4 config, $5 event type; null: as it is. $6 whether the condition changes, $7 to what.
-- A schedule that says something else, or wakes up, has its times worked out again, from now on.
update workflow_triggers set
  is_enabled = coalesce($3::boolean, is_enabled),
  disabled_by_archive = disabled_by_archive and $3::boolean is null,
  config = coalesce($4::json, config),
  event_type = coalesce($5::text, event_type),
  activation_condition = case when $6::boolean then $7::text else activation_condition end,
  (revision, due_at, settled_through) = (
    select case when again then revision + 1 else revision end, case when again then '-infinity' else due_at end,
      case when again then date_trunc('milliseconds', clock_timestamp()) else settled_through end
    from (select coalesce($3::boolean and not is_enabled, false) or coalesce($4::json::text <> config::text, false) as again) c),
  updated_at = clock_timestamp()
where tenant_id || '' = $1 and id = $2
returning id;

-- name: trigger_remove
delete from workflow_triggers where tenant_id || '' = $1 and id = $2 returning id;

-- name: trigger_get
-- As in the statements above, the text is built so that only the primary key can be used, whatever the statistics say.
select * from workflow_triggers_view where tenant_id || '' = $1 and id = $2;

-- name: trigger_list
select * from workflow_triggers_view
where tenant_id = $1 and ($2::uuid is null or id > $2) and ($3::text is null or workflow_id = $3)
  and ($4::text is null or trigger_type = $4) and ($5::boolean is null or is_enabled = $5)
order by id limit $6;

-- name: webhook_get
select v.*, t.secrets from workflow_triggers t join workflow_triggers_view v on v.id = t.id
where t.id = $1 and t.trigger_type = 'Webhook';

-- name: webhook_secret_add
update workflow_triggers set updated_at = clock_timestamp(),
  secrets = case when $4::boolean and cardinality(secrets) > 0 then array[$3, secrets[1]] else array[$3] end
where tenant_id || '' = $1 and id = $2 and trigger_type = 'Webhook' and not ($5::boolean and cardinality(secrets) > 0)
returning id;

-- name: event_trigger_stamp
-- Every change of a row gives it another xmin. For a thousand triggers this takes a tenth of what reading them does, and most of the rest
-- of the work, which is the client's, is saved.
with listening as materialized (
  select t.id, t.workflow_id, t.xmin::text::bigint as made_by from workflow_triggers t
  where t.tenant_id = $1 and t.event_type = $2 and t.trigger_type = 'Event' and t.is_enabled
)
select concat_ws(':', count(*), bit_xor(uuid_hash_extended(id, made_by)),
  (select bit_xor(hashtextextended(w.id, w.xmin::text::bigint)) from workflows w
   where w.tenant_id = $1 and w.id = any(array(select distinct workflow_id from listening)))) as stamp
from listening;

-- name: event_trigger_list
select * from workflow_triggers_view
-- A range and an order that only trigger_by_event has: so it is used whatever the statistics say.
where tenant_id = $1 and event_type <= $2 and (event_type, id) > ($2, coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
  and trigger_type = 'Event' and is_enabled
order by event_type, id limit $4;

-- name: schedule_claim
-- $1 now, unless it is the clock's; $2 seconds of the lease; $3 how many.
-- With a million schedules of which none is due: one probe of trigger_due.
with present as materialized (
  select coalesce($1::timestamptz, clock_timestamp()) as at
),
due as materialized (
  select t.id from workflow_triggers t
  where t.trigger_type = 'Schedule' and t.is_enabled and t.due_at <= (select at from present)
  order by t.due_at limit $3::int for no key update skip locked
),
claimed as (
  update workflow_triggers t set revision = t.revision + 1, due_at = (select at from present) + make_interval(secs => $2::float8)
  where t.id = any(array(select id from due))
  returning t.id, t.revision, t.settled_through
)
-- A row also when nothing was due: the time, and when to ask again, are news in themselves.
select present.at, c.revision, c.settled_through, v.*,
  (select nullif(min(n.due_at), 'infinity') from workflow_triggers n
   where n.trigger_type = 'Schedule' and n.is_enabled and n.due_at > present.at) as next_due_at
from present
left join (claimed c join workflow_triggers_view v on v.id = c.id) on true;

-- name: firing_add
-- $1 to $8: what was fired. Executions were started before, under the same request ids. What was accepted and refused then is a
-- dead letter. $9 to $12: schedules to move on with it; none of a webhook, for which that is some 15 µs of 200, without the disk.
with fired as materialized (
  select t.tenant_id, n.*
  from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[], $5::uuid[], $6::text[], $7::text[], $8::json[])
    n (trigger_id, request_id, slot, outcome, execution_id, reason, refusal, payload)
  join workflow_triggers t on t.id = n.trigger_id
),
letters as (
  insert into dead_letters as d (tenant_id, trigger_id, request_id, reason, payload, attempts, last_error)
  select tenant_id, trigger_id, request_id, refusal, payload, 1, reason from fired where refusal is not null
  on conflict (trigger_id, request_id) where trigger_id is not null
  do update set attempts = d.attempts + 1, reason = excluded.reason, last_error = excluded.last_error
),
moved as (
  update workflow_triggers t set settled_through = s.settled_through, due_at = coalesce(s.due_at, 'infinity')
  from unnest($9::uuid[], $10::int[], $11::timestamptz[], $12::timestamptz[]) s (id, revision, settled_through, due_at)
  where t.id = s.id and t.revision = s.revision
)
insert into trigger_firings as f (trigger_id, tenant_id, request_id, slot, outcome, execution_id, reason)
select trigger_id, tenant_id, request_id, slot, outcome, execution_id, reason from fired
on conflict (trigger_id, request_id) do update
set outcome = excluded.outcome, execution_id = excluded.execution_id, reason = excluded.reason, fired_at = excluded.fired_at
where f.outcome <> 'started'
returning f.trigger_id, f.request_id;

-- name: firing_started
select f.trigger_id, f.request_id, f.execution_id
from unnest($1::uuid[], $2::text[]) n (trigger_id, request_id)
cross join lateral (
  -- A range and an order that only the key of firings has: so it is used whatever the statistics say.
  select f.* from trigger_firings f
  where f.trigger_id = n.trigger_id and f.request_id >= n.request_id and f.request_id <= n.request_id order by f.request_id limit 1
) f
where f.outcome = 'started';

-- name: firing_list
select id, trigger_id, request_id, slot, outcome, execution_id, reason, fired_at from trigger_firings
where tenant_id = $1 and trigger_id = $2 and ($3::bigint is null or id < $3)
order by id desc limit $4;

-- name: firing_purge
delete from trigger_firings where id = any(array(
  select id from trigger_firings where fired_at < clock_timestamp() - make_interval(secs => $1::float8) order by fired_at limit $2::int))
returning id;

-- Numbers that stand beside lists, each along an index and none counted beyond 10,000.

-- name: consumer_backlogs
-- Along delivery_due and delivery_dead. Delivered and not confirmed yet is pending, too.
select c.code,
  (select count(*)::int from (select from deliveries d
    where d.consumer_id = c.id and d.next_attempt_at is not null and d.stage in (0, 1) limit 10000) n) as pending,
  (select count(*)::int from (select from deliveries d
    where d.consumer_id = c.id and d.next_attempt_at is not null and d.stage = 3 limit 10000) n) as failed,
  (select count(*)::int from (select from deliveries d where d.consumer_id = c.id and d.stage = 4 limit 10000) n) as dead,
  first.created_at as oldest_at, coalesce(dead.message, first.message) as last_error
from consumers c
left join lateral (
  select m.created_at, d.message from deliveries d join messages m on m.ack_guid = d.ack_guid
  where d.consumer_id = c.id and d.next_attempt_at is not null order by d.next_attempt_at limit 1
) first on true
left join lateral (
  select d.message from deliveries d where d.consumer_id = c.id and d.stage = 4 order by d.ack_guid desc limit 1
) dead on true
where c.tenant_id = $1;

-- name: lifecycle_state_counts
-- Along instance_by_state.
select s.name as state, n.count
from lifecycle_definitions d
cross join lateral (select distinct s.name from lifecycle_states s where s.definition_id = d.id) s
cross join lateral (
  select count(*)::int as count from (
    select from lifecycle_instances i where i.definition_id = d.id and i.state = s.name limit 10000) i
) n
where d.tenant_id = $1 and d.env = $2 and d.name = $3
order by s.name;

-- name: last_missed
-- The newest record of slots that were missed, among the last hundred firings: along firing_newest.
select f.id, f.trigger_id, f.request_id, f.slot, f.outcome, f.execution_id, f.reason, f.fired_at
from unnest($2::uuid[]) wanted (id)
cross join lateral (
  select recent.* from (
    select f.* from trigger_firings f where f.trigger_id = wanted.id and f.tenant_id = $1 order by f.id desc limit 100) recent
  where recent.outcome = 'skipped' and recent.slot is not null and recent.request_id like '%:skipped'
  order by recent.id desc limit 1
) f;

-- name: last_firings
-- Along firing_newest.
select f.id, f.trigger_id, f.request_id, f.slot, f.outcome, f.execution_id, f.reason, f.fired_at
from unnest($2::uuid[]) wanted (id)
cross join lateral (
  select f.* from trigger_firings f where f.trigger_id = wanted.id and f.tenant_id = $1 order by f.id desc limit 1
) f;

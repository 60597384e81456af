-- Consumers: few rows, read whole. Whoever changes one raises the generation in the same transaction.

-- name: consumer_put
-- null leaves a field as it is; $5 says whether the url is given at all. $12: one that exists stays as it is.
-- $6 is put in front of the secrets that the row has now, $13 says whether any of those stays: what was read before may be
-- out of date, and a secret that somebody was shown must not be lost.
insert into consumers as c (tenant_id, code, kind, url, secrets, subscriptions, ordering, concurrency, options, is_paused)
values ($1, $2, $3, $4, array_remove(array[$6::text], null), coalesce($7::json, '[]'), coalesce($8, 'delivered'), coalesce($9::int, 16),
  coalesce($10::json, '{}'), coalesce($11::boolean, false))
on conflict (tenant_id, code) do update set
  kind = excluded.kind,
  url = case when $5::boolean then excluded.url else c.url end,
  secrets = case
    when c.kind <> excluded.kind then excluded.secrets
    when $6::text is null then c.secrets
    when $13::boolean then array[$6::text] || (array_remove(c.secrets, $6::text))[1:1]
    else array[$6::text] end,
  subscriptions = coalesce($7::json, c.subscriptions),
  ordering = coalesce($8, c.ordering),
  concurrency = coalesce($9::int, c.concurrency),
  options = coalesce($10::json, c.options),
  is_paused = coalesce($11::boolean, c.is_paused),
  updated_at = clock_timestamp()
where not $12::boolean
returning *;

-- name: consumer_get
select * from consumers where tenant_id = $1 and code = $2;

-- name: consumer_list
select * from consumers where $1::text is null or tenant_id = $1 order by tenant_id, code;

-- name: consumer_remove
delete from consumers where tenant_id = $1 and code = $2 returning id;

-- name: consumer_deliveries_remove
-- What is open or dead of a consumer that is no more, some at a time. What it has not answered it never will: a hook that waits for
-- that has failed, as if its consumer had said so.
with gone as materialized (
  select ack_guid from deliveries where consumer_id = $1 and stage in (0, 1, 3) order by subject_id limit $2::int for update
),
dead as materialized (
  select ack_guid from deliveries where consumer_id = $1 and stage = 4 limit $2::int for update
),
removed as (
  delete from deliveries where consumer_id = $1
    and (ack_guid = any(array(select ack_guid from gone)) or ack_guid = any(array(select ack_guid from dead)))
  returning ack_guid, processed > 0 or (stage = 4 and outcome is not null) as is_answered
),
counted as (
  update messages set failures = failures + 1
  where ack_guid = any(array(select ack_guid from removed where not is_answered)) and (on_succeeded is not null or on_failed is not null)
  returning ack_guid, subject_id, on_failed, failures
),
reactions as (
  insert into lifecycle_reactions (ack_guid, outcome, instance_id, event)
  select ack_guid, 'failed', subject_id, on_failed from counted where on_failed is not null and failures = 1
  on conflict do nothing
)
select (select count(*)::int from removed) as removed, array(select ack_guid::text from counted) as failed;

-- name: consumer_orphans
-- Consumers that are no more and still have open or dead deliveries. Loose index scans.
with recursive open_ids as (
  (select consumer_id from deliveries where stage in (0, 1, 3) order by consumer_id limit 1)
  union all
  select n.consumer_id from open_ids k
  cross join lateral (
    select d.consumer_id from deliveries d where d.stage in (0, 1, 3) and d.consumer_id > k.consumer_id order by d.consumer_id limit 1) n
),
dead_ids as (
  (select consumer_id from deliveries where stage = 4 order by consumer_id limit 1)
  union all
  select n.consumer_id from dead_ids k
  cross join lateral (select d.consumer_id from deliveries d where d.stage = 4 and d.consumer_id > k.consumer_id order by d.consumer_id limit 1) n
)
select consumer_id from (select consumer_id from open_ids union select consumer_id from dead_ids) k
where not exists (select from consumers c where c.id = k.consumer_id);

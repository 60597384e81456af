-- Deliveries: claim, acknowledge, order. Stages: 0 Pending, 1 Delivered, 2 Processed, 3 Failed (sent again later), 4 Dead.
--
-- Order per consumer and subject costs no waiting row anything: a claim that meets one whose turn it is not takes it out of
-- the way (is_held), and the acknowledgement of the one before makes it due, in a statement of its own (delivery_promote).
-- Nothing is lost between the two: what is promoted is due later than any claim that could still believe it blocked, and a
-- held one is looked at again by itself after as long as a re-send takes.

-- name: delivery_claim
-- $1 consumer; $2 the stages in which an older one is in the way; $3 limit; $4 and $5 milliseconds to the next attempt and
-- reminder, $6 attempts at most.
-- A hundred more are looked at than asked for: of what is not its turn, each is met once and then out of the way. `looked` tells
-- the caller whether there may be more.
with picked as materialized (
  select d.ack_guid, d.subject_id, d.seq, d.stage, d.attempts, d.next_attempt_at from deliveries d
  where d.consumer_id = $1::int and d.next_attempt_at <= now()
    and exists (select from consumers c where c.id = $1::int and not c.is_paused)
  order by d.next_attempt_at limit $3::int + 100 for no key update skip locked
),
judged as materialized (
  select p.*, case
      when p.stage = 1 then 'send'
      when exists (select from deliveries o where o.consumer_id = $1::int and o.subject_id = p.subject_id
        and o.stage in (0, 1, 3) and o.stage = any($2::smallint[]) and o.seq < p.seq) then 'hold'
      when p.attempts >= $6::int then 'die'
      else 'send'
    end as verdict
  from picked p
),
held as (
  update deliveries set stage = 0, is_held = true, next_attempt_at = clock_timestamp() + make_interval(secs => ($4::float8[])[1] / 1000)
  where consumer_id = $1::int and ack_guid = any(array(select ack_guid from judged where verdict = 'hold'))
),
died as (
  update deliveries set stage = 4, next_attempt_at = null, ended_at = clock_timestamp(),
    message = coalesce(message, 'not delivered after ' || attempts || ' attempts')
  where consumer_id = $1::int and ack_guid = any(array(select ack_guid from judged where verdict = 'die'))
  returning ack_guid, subject_id, seq, stage, attempts, reminders
),
-- A hook that waits for such a consumer has failed: without this its lifecycle would wait for ever.
given_up as (
  update messages set failures = failures + 1
  where ack_guid = any(array(select ack_guid from died)) and (on_succeeded is not null or on_failed is not null)
  returning ack_guid, subject_id, on_failed, failures
),
reactions as (
  insert into lifecycle_reactions (ack_guid, outcome, instance_id, event)
  select ack_guid, 'failed', subject_id, on_failed from given_up where on_failed is not null and failures = 1
  on conflict do nothing
),
sent as (
  update deliveries set
    stage = case when stage = 1 then 1 else 0 end,
    is_held = false,
    attempts = attempts + case when stage = 1 then 0 else 1 end,
    reminders = reminders + case when stage = 1 then 1 else 0 end,
    next_attempt_at = case
      when stage = 1 then clock_timestamp() + make_interval(secs => ($5::float8[])[least(reminders + 2, cardinality($5::float8[]))] / 1000)
      else clock_timestamp() + make_interval(secs => ($4::float8[])[least(attempts + 1, cardinality($4::float8[]))] / 1000)
    end
  where consumer_id = $1::int
    and ack_guid = any(array(select ack_guid from judged where verdict = 'send' order by next_attempt_at limit $3::int))
  returning ack_guid, subject_id, seq, stage, attempts, reminders
)
-- A row also when nothing was due: the time is news in itself.
select clock_timestamp() as at, (select count(*)::int from picked) as looked, t.*, m.tenant_id, m.kind, m.source, m.event, m.body, m.created_at
from (select) once
left join ((select * from sent union all select * from died) t
  cross join lateral (select * from messages m where m.ack_guid = t.ack_guid offset 0) m) on true
order by m.created_at, t.seq, t.ack_guid;

-- name: delivery_ack
-- $1 tenants, $2 ack guids (each once), $3 consumers, $4 the stage it goes to, $5 messages, $6 when a failed one is sent again,
-- $7 milliseconds to the first reminder, $8 results: the one that ends a hook is kept for its event. Idempotent: a stage never goes back, and a repeat changes nothing. A failure is the same
-- one again when it asks for the same time, even when it was sent again since.
-- A late "processed" is believed even when it was given up for want of an answer, not when its consumer had said that it failed.
with moved as (
  update deliveries d set
    stage = ($4::smallint[])[array_position($2::uuid[], d.ack_guid)],
    is_held = false,
    reminders = case when ($4::smallint[])[array_position($2::uuid[], d.ack_guid)] = 1 then 0 else d.reminders end,
    processed = d.processed + case when ($4::smallint[])[array_position($2::uuid[], d.ack_guid)] = 2 then 1 else 0 end,
    next_attempt_at = case ($4::smallint[])[array_position($2::uuid[], d.ack_guid)]
      when 1 then clock_timestamp() + make_interval(secs => $7::float8 / 1000)
      when 3 then greatest(($6::timestamptz[])[array_position($2::uuid[], d.ack_guid)], clock_timestamp()) end,
    retry_at = case ($4::smallint[])[array_position($2::uuid[], d.ack_guid)]
      when 3 then ($6::timestamptz[])[array_position($2::uuid[], d.ack_guid)] else d.retry_at end,
    delivered_at = case when ($4::smallint[])[array_position($2::uuid[], d.ack_guid)] in (1, 2)
      then coalesce(d.delivered_at, clock_timestamp()) else d.delivered_at end,
    ended_at = case when ($4::smallint[])[array_position($2::uuid[], d.ack_guid)] in (2, 4) then clock_timestamp() end,
    outcome = case ($4::smallint[])[array_position($2::uuid[], d.ack_guid)] when 1 then null when 2 then 'succeeded' else 'failed' end,
    message = ($5::text[])[array_position($2::uuid[], d.ack_guid)]
  where d.ack_guid = any($2::uuid[]) and d.consumer_id = ($3::int[])[array_position($2::uuid[], d.ack_guid)]
    and exists (select from consumers c where c.id = d.consumer_id and c.tenant_id = ($1::text[])[array_position($2::uuid[], d.ack_guid)])
    and case ($4::smallint[])[array_position($2::uuid[], d.ack_guid)]
      when 1 then d.stage = 0
      when 2 then d.stage in (0, 1, 3) or (d.stage = 4 and d.outcome is null)
      when 3 then d.stage in (0, 1, 3) and d.retry_at is distinct from ($6::timestamptz[])[array_position($2::uuid[], d.ack_guid)]
      else d.stage in (0, 1, 3) end
  returning d.ack_guid, d.consumer_id, d.subject_id, d.seq, d.stage, d.processed
),
-- One update of messages, in the order of their ids: two would lock them in two orders.
counted as (
  update messages m set
    open_consumers = m.open_consumers - case when m.ack_guid = any(array(select ack_guid from moved where stage = 2)) then 1 else 0 end,
    failures = m.failures + case when m.ack_guid = any(array(select ack_guid from moved where stage = 4)) then 1 else 0 end
  where m.ack_guid = any(array(select ack_guid from moved where stage = 4 or (stage = 2 and processed = 1)))
    and (m.on_succeeded is not null or m.on_failed is not null)
  returning m.ack_guid, m.subject_id, m.on_succeeded, m.on_failed, m.open_consumers, m.failures
),
reactions as (
  insert into lifecycle_reactions (ack_guid, outcome, instance_id, event, payload)
  select c.ack_guid, case m.stage when 2 then 'succeeded' else 'failed' end, c.subject_id, case m.stage when 2 then c.on_succeeded else c.on_failed end,
    ($8::json[])[array_position($2::uuid[], c.ack_guid)]
  from counted c cross join lateral (select stage from moved where moved.ack_guid = c.ack_guid) m
  where case m.stage when 2 then c.open_consumers = 0 and c.on_succeeded is not null else c.failures = 1 and c.on_failed is not null end
  on conflict do nothing
  returning ack_guid
)
select moved.ack_guid, moved.consumer_id, moved.subject_id, moved.seq, moved.stage, moved.ack_guid = any(array(select ack_guid from reactions)) as reacted
from moved;

-- name: delivery_renew
-- $1 ack guids (each once), $2 consumers, $3 milliseconds to the first reminder. A consumer that says "Delivered" once more is still
-- at work: it is reminded later.
update deliveries d set next_attempt_at = clock_timestamp() + make_interval(secs => $3::float8 / 1000), reminders = 0
where d.ack_guid = any($1::uuid[]) and d.consumer_id = ($2::int[])[array_position($1::uuid[], d.ack_guid)]
  -- The sum keeps this on the primary key, whatever the statistics say.
  and d.stage + 0 = 1;

-- name: delivery_promote
-- What waited for these is due. A statement of its own, after theirs: only so does it see whatever was held meanwhile.
-- $4: whether the one before has ended, or was only delivered.
update deliveries set is_held = false, next_attempt_at = clock_timestamp()
where is_held and stage + 0 = 0 and consumer_id = any($1::int[]) and ack_guid = any(array(
  select n.ack_guid from unnest($1::int[], $2::uuid[], $3::int[], $4::boolean[]) b (consumer_id, subject_id, seq, has_ended)
  cross join lateral (
    select d.ack_guid from deliveries d
    where d.consumer_id = b.consumer_id and d.subject_id = b.subject_id and d.stage = 0 and d.seq > b.seq
      and (b.has_ended or exists (select from consumers c where c.id = b.consumer_id and c.ordering = 'delivered'))
    order by d.seq limit 1
  ) n));

-- name: delivery_stages
select d.ack_guid, d.consumer_id, d.stage
from unnest($1::text[], $2::uuid[], $3::int[]) w (tenant_id, ack_guid, consumer_id)
cross join lateral (
  select * from deliveries d where d.ack_guid = w.ack_guid and d.consumer_id = w.consumer_id
    and exists (select from consumers c where c.id = d.consumer_id and c.tenant_id = w.tenant_id) offset 0
) d;

-- name: message_get
select * from messages where tenant_id = $1 and ack_guid = $2;

-- name: message_deliveries
select ack_guid, consumer_id, stage, attempts, reminders, next_attempt_at, delivered_at, ended_at, outcome, message
from deliveries where ack_guid = $1 order by consumer_id;

-- name: delivery_list
select d.ack_guid, d.consumer_id, d.stage, d.attempts, d.reminders, d.next_attempt_at, d.delivered_at, d.ended_at, d.outcome,
  d.message, m.kind, m.subject_id, m.env, m.source, m.event, i.external_ref, m.created_at
from deliveries d join messages m on m.ack_guid = d.ack_guid left join lifecycle_instances i on i.id = m.subject_id
where m.tenant_id = $1 and ($2::int is null or d.consumer_id = $2) and ($3::smallint is null or d.stage = $3)
  and ($4::uuid is null or (d.ack_guid, d.consumer_id) > ($4::uuid, $5::int))
order by d.ack_guid, d.consumer_id limit $6;

-- name: delivery_list_newest
-- The same, newest first.
select d.ack_guid, d.consumer_id, d.stage, d.attempts, d.reminders, d.next_attempt_at, d.delivered_at, d.ended_at, d.outcome,
  d.message, m.kind, m.subject_id, m.env, m.source, m.event, i.external_ref, m.created_at
from deliveries d join messages m on m.ack_guid = d.ack_guid left join lifecycle_instances i on i.id = m.subject_id
where m.tenant_id = $1 and ($2::int is null or d.consumer_id = $2) and ($3::smallint is null or d.stage = $3)
  and ($4::uuid is null or (d.ack_guid, d.consumer_id) < ($4::uuid, $5::int))
order by d.ack_guid desc, d.consumer_id desc limit $6;

-- name: delivery_list_of
-- Of these messages, by their keys.
select d.ack_guid, d.consumer_id, d.stage, d.attempts, d.reminders, d.next_attempt_at, d.delivered_at, d.ended_at, d.outcome,
  d.message, m.kind, m.subject_id, m.env, m.source, m.event, i.external_ref, m.created_at
from deliveries d join messages m on m.ack_guid = d.ack_guid left join lifecycle_instances i on i.id = m.subject_id
where m.tenant_id = $1 and ($2::int is null or d.consumer_id = $2) and ($3::smallint is null or d.stage = $3)
  and ($4::uuid is null or (d.ack_guid, d.consumer_id) > ($4::uuid, $5::int)) and d.ack_guid = any($7::uuid[])
order by d.ack_guid, d.consumer_id limit $6;

-- name: delivery_requeue
update deliveries d set stage = 0, attempts = 0, reminders = 0, is_held = false, next_attempt_at = clock_timestamp(),
  retry_at = null, delivered_at = null, ended_at = null, outcome = null, message = null
where (d.ack_guid, d.consumer_id) in (select * from unnest($2::uuid[], $3::int[])) and d.stage in (3, 4)
  and exists (select from consumers c where c.id = d.consumer_id and c.tenant_id || '' = $1)
returning d.ack_guid;

-- name: delivery_purge_dead
delete from deliveries d
where (d.ack_guid, d.consumer_id) in (select * from unnest($2::uuid[], $3::int[])) and d.stage = 4
  and exists (select from consumers c where c.id = d.consumer_id and c.tenant_id || '' = $1)
returning d.ack_guid;

-- name: delivery_replay
-- What is on its way anyway stays as it is.
with target as materialized (
  select id from consumers where id = $2::int and tenant_id || '' = $1
),
again as (
  update deliveries d set stage = 0, attempts = 0, reminders = 0, is_held = false, next_attempt_at = clock_timestamp(),
    retry_at = null, delivered_at = null, ended_at = null, outcome = null, message = null
  where d.consumer_id = (select id from target) and d.stage <> 0 and d.ack_guid = any($3::uuid[])
  returning d.ack_guid
),
missing as (
  insert into deliveries (ack_guid, consumer_id, subject_id, seq, next_attempt_at)
  select m.ack_guid, target.id, m.subject_id, m.seq, clock_timestamp()
  from target cross join messages m where m.tenant_id = $1 and m.ack_guid = any($4::uuid[])
  -- A purge that is at it waits, or has been.
  for key share of m
  on conflict do nothing
  returning ack_guid
)
select ((select count(*) from again) + (select count(*) from missing))::int as replayed;

-- name: message_list
-- Without the bodies: a range may hold any number of them.
select ack_guid, kind, env, source, event, created_at from messages
where tenant_id = $1 and created_at >= $2::timestamptz and created_at < $3::timestamptz
  and ($4::timestamptz is null or (created_at, ack_guid) > ($4::timestamptz, $5::uuid))
order by created_at, ack_guid limit $6;

-- name: message_purge
with doomed as materialized (
  select m.ack_guid from messages m
  where m.created_at < $1::timestamptz
    and not exists (select from deliveries d where d.ack_guid = m.ack_guid and d.stage <> 2 offset 0)
  order by m.created_at limit $2::int for update of m skip locked
),
delivered as (delete from deliveries where ack_guid = any(array(select ack_guid from doomed)))
delete from messages where ack_guid = any(array(select ack_guid from doomed)) returning ack_guid;

-- name: monitor_look
-- The whole cost of a quiet system: one probe of an index each. With `exists` instead of `limit 1` the planner turned it round and
-- read the million due rows of a paused consumer (158 ms instead of 0.1).
select clock_timestamp() as at,
  coalesce((select generation::text from lifecycle_generation where slot = 0), '0') as generation,
  array(
    select c.id::text from consumers c
    cross join lateral (select from deliveries d where d.consumer_id = c.id and d.next_attempt_at <= now() limit 1) due
    where c.id = any($1::int[]) and not c.is_paused
  ) as due_consumer_ids,
  (select min(n.next_attempt_at) from consumers c cross join lateral (
      select d.next_attempt_at from deliveries d where d.consumer_id = c.id and d.next_attempt_at > now() order by d.next_attempt_at limit 1
    ) n where c.id = any($1::int[]) and not c.is_paused) as next_delivery_at,
  (select i.due_at from lifecycle_instances i where i.due_at is not null order by i.due_at limit 1) as next_timeout_at,
  exists (select from lifecycle_reactions where due_at <= now()) as has_reactions,
  exists (select from commit_batches) as has_outbox;

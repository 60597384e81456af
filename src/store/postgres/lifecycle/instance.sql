-- Instances of lifecycles: the compare-and-set of triggers, timeouts that are due, the timeline, the outcomes of hooks.

-- name: lifecycle_apply
-- One atomic statement. $1 the generation; $2 to $19 the moves, in the order of their keys (of two batches that create the same
-- instances, one waits for the other and neither for both); $20 to $31 messages, $32 to $36 deliveries, $37 reactions, $38 the
-- messages of each move, as the text of an array: a join of two lists would be planned for ten rows.
-- Written is what moved: an update that met the revision and no entry of the same request, or an insert that met no instance.
-- What a lost reply makes the caller send again finds the revision moved on, and is not written twice.
with fence as materialized (
  select generation from lifecycle_generation where slot = pg_backend_pid() & 15 for share
),
present as materialized (
  select from fence where generation = $1::bigint
),
updated as (
  -- No join: = any() is an index scan whatever the planner believes about the size of the table.
  update lifecycle_instances i set
    state = ($9::text[])[array_position($2::uuid[], i.id)],
    revision = i.revision + 1,
    state_since = ($11::timestamptz[])[array_position($2::uuid[], i.id)],
    timeouts_fired = ($12::int[])[array_position($2::uuid[], i.id)],
    due_at = ($13::timestamptz[])[array_position($2::uuid[], i.id)]
  where i.id = any($2::uuid[]) and i.revision = ($6::int[])[array_position($2::uuid[], i.id)] and exists (select from present)
    and not exists (select from lifecycle_timeline t
      where t.instance_id = i.id and t.request_id = ($14::text[])[array_position($2::uuid[], i.id)])
  returning i.id
),
inserted as (
  insert into lifecycle_instances (id, definition_id, external_ref, version, state, revision, state_since, timeouts_fired, due_at, created_at)
  select m.id, d.id, m.external_ref, m.version, m.state, 1, m.state_since, m.timeouts_fired, m.due_at, m.at
  from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::int[], $9::text[], $10::timestamptz[],
    $11::timestamptz[], $12::int[], $13::timestamptz[])
    m (id, tenant_id, env, definition, revision, external_ref, version, state, at, state_since, timeouts_fired, due_at)
  cross join lateral (
    select d.id from lifecycle_definitions d where d.tenant_id = m.tenant_id and d.env = m.env and d.name = m.definition offset 0
  ) d
  -- After the updates, in every batch: otherwise two could wait for each other.
  where m.revision = 0 and exists (select from present) and (select count(*) from updated) >= 0
  on conflict do nothing
  returning id
),
moved as materialized (
  select array(select id from updated union all select id from inserted) as ids
),
timeline as (
  insert into lifecycle_timeline (instance_id, kind, revision, to_state, at, request_id, event, from_state, actor, payload, cause, messages)
  select m.instance_id, 'transition', m.revision + 1, m.to_state, m.at, m.request_id, m.event, m.from_state, m.actor, m.payload, m.cause,
    m.messages::uuid[]
  from unnest($2::uuid[], $6::int[], $9::text[], $10::timestamptz[], $14::text[], $15::text[], $16::text[], $17::text[], $18::json[], $19::json[],
    $38::text[])
    m (instance_id, revision, to_state, at, request_id, event, from_state, actor, payload, cause, messages)
  where m.instance_id = any((select ids from moved)::uuid[])
),
written as (
  insert into messages (ack_guid, tenant_id, kind, subject_id, seq, env, source, event, body, on_succeeded, on_failed, consumers, open_consumers)
  select m.*, m.consumers
  from unnest($20::uuid[], $21::text[], $22::text[], $23::uuid[], $24::int[], $25::text[], $26::text[], $27::text[], $28::json[],
    $29::text[], $30::text[], $31::int[])
    m (ack_guid, tenant_id, kind, subject_id, seq, env, source, event, body, on_succeeded, on_failed, consumers)
  where m.subject_id = any((select ids from moved)::uuid[])
),
sent as (
  -- Due at once, but for what follows another one of this very batch: the acknowledgement of that one makes it due.
  insert into deliveries (ack_guid, consumer_id, subject_id, seq, is_held, next_attempt_at)
  select d.*, case when d.is_held then now() + interval '30 seconds' else now() end
  from unnest($32::uuid[], $33::int[], $34::uuid[], $35::int[], $36::boolean[]) d (ack_guid, consumer_id, subject_id, seq, is_held)
  where d.subject_id = any((select ids from moved)::uuid[])
),
settled as (
  delete from lifecycle_reactions where id = any($37::bigint[]) and instance_id = any((select ids from moved)::uuid[])
)
select exists (select from present) as current, (select ids from moved)::text[] as applied, clock_timestamp() as at;

-- name: instance_load
select w.place, i.id, w.tenant_id, w.env, w.definition, i.external_ref, i.version, i.state, i.revision, i.state_since,
  i.timeouts_fired, i.due_at, i.created_at, t.event as seen_event, t.from_state as seen_from, t.to_state as seen_to, t.revision as seen_revision
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) with ordinality w (tenant_id, env, definition, external_ref, request_id, place)
cross join lateral (
  select d.id from lifecycle_definitions d where d.tenant_id = w.tenant_id and d.env = w.env and d.name = w.definition offset 0
) d
cross join lateral (
  select * from lifecycle_instances i where i.definition_id = d.id and i.external_ref = w.external_ref offset 0
) i
left join lateral (
  select t.event, t.from_state, t.to_state, t.revision from lifecycle_timeline t
  where t.instance_id = i.id and t.request_id = w.request_id offset 0
) t on true;

-- name: instance_create
-- An instance without a move: it stands in the initial state, and its timeout begins. Whoever is second finds the first's.
with present as materialized (
  select from lifecycle_generation where slot = pg_backend_pid() & 15 and generation = $1::bigint for share
),
created as (
  insert into lifecycle_instances (id, definition_id, external_ref, version, state, revision, state_since, timeouts_fired, due_at, created_at)
  select $2::uuid, d.id, $6, $7::int, $8, 1, $9::timestamptz, 0, $10::timestamptz, $9::timestamptz
  from lifecycle_definitions d where d.tenant_id = $3 and d.env = $4 and d.name = $5 and exists (select from present)
  on conflict do nothing
  returning id, state, created_at
),
told as (
  insert into lifecycle_timeline (instance_id, kind, at, activity_id, activity, status, actor, payload)
  select id, 'activity', created_at, id, 'created', state, $11, $12::json from created
)
select exists (select from present) as current, exists (select from created) as created;

-- name: instance_stay
-- The lock holds back moves until the entry is there for them to see. Of two that use up the same request, one does.
with present as materialized (
  select id, state from lifecycle_instances where id = $1::uuid and revision = $2::int for share
)
insert into lifecycle_timeline (instance_id, kind, at, request_id, event, from_state, to_state)
select id, 'no-op', clock_timestamp(), $3, $4, state, state from present
on conflict (instance_id, request_id) where request_id is not null do nothing
returning id;

-- name: instance_claim_due
-- With a million instances of which none is due: one probe of instance_due.
with due as materialized (
  select id from lifecycle_instances where due_at <= now() order by due_at limit $1::int for no key update skip locked
),
claimed as (
  update lifecycle_instances i set due_at = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
  where i.id = any(array(select id from due))
  returning i.*
)
-- A row also when nothing was due: the time is news in itself.
select i.*, d.tenant_id, d.env, d.name as definition, clock_timestamp() as at
from (select) once
left join (claimed i cross join lateral (select * from lifecycle_definitions d where d.id = i.definition_id offset 0) d) on true;

-- name: instance_list
select i.*, d.tenant_id, d.env, d.name as definition
from lifecycle_definitions d join lifecycle_instances i on i.definition_id = d.id
where d.tenant_id = $1 and d.env = $2 and d.name = $3 and i.external_ref > $4
  and i.external_ref >= $6::text and starts_with(i.external_ref, $6)
order by i.external_ref limit $5;

-- name: instance_list_in_state
select i.*, d.tenant_id, d.env, d.name as definition
from lifecycle_definitions d join lifecycle_instances i on i.definition_id = d.id
where d.tenant_id = $1 and d.env = $2 and d.name = $3 and i.external_ref > $4 and i.state = $7
  and i.external_ref >= $6::text and starts_with(i.external_ref, $6)
order by i.external_ref limit $5;

-- name: timeline_list
select t.id as cursor, t.at, t.kind, t.event, t.from_state, t.to_state, t.activity, t.status, t.actor, t.payload, t.request_id, t.cause,
  t.messages::text[] as messages
from lifecycle_timeline t
where t.instance_id = $2 and t.id > coalesce($3::bigint, 0) and t.kind <> 'no-op'
  and exists (select from lifecycle_instances i join lifecycle_definitions d on d.id = i.definition_id where i.id = $2 and d.tenant_id || '' = $1)
order by t.id limit $4;

-- name: activity_add
-- The same activity twice is there once.
with target as materialized (
  select i.id from lifecycle_instances i join lifecycle_definitions d on d.id = i.definition_id where i.id = $2 and d.tenant_id || '' = $1
),
added as (
  insert into lifecycle_timeline (instance_id, kind, at, activity_id, activity, status, actor, payload)
  select id, 'activity', clock_timestamp(), $3::uuid, $4, $5, $6, $7::json from target
  on conflict do nothing
)
select exists (select from target) as found;

-- name: reaction_claim
with due as materialized (
  select id from lifecycle_reactions where due_at <= now() order by due_at limit $1::int for no key update skip locked
),
claimed as (
  update lifecycle_reactions set due_at = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
  where id = any(array(select id from due))
  returning id, ack_guid, outcome, instance_id, event, payload
)
select r.id, r.ack_guid, r.outcome, r.instance_id, r.event, r.payload, i.external_ref, d.tenant_id, d.env, d.name as definition
from claimed r
cross join lateral (select * from lifecycle_instances i where i.id = r.instance_id offset 0) i
cross join lateral (select * from lifecycle_definitions d where d.id = i.definition_id offset 0) d
order by r.id;

-- name: reaction_settle
delete from lifecycle_reactions where id = any($1::bigint[]);

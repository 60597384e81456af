-- Imported machines, and the generation: a number that every import and every change of a consumer raises.

-- name: lifecycle_generation
select generation::text as generation from lifecycle_generation where slot = 0;

-- name: lifecycle_generation_raise
-- The last statement of its transaction. It waits for the triggers in flight, each of which shares one of the rows; those
-- that come later wait for it and then find another number.
insert into lifecycle_generation (slot, generation) select slot, 1 from generate_series(0, 15) slot
on conflict (slot) do update set generation = lifecycle_generation.generation + 1;

-- name: lifecycle_environment_add
insert into lifecycle_environments (tenant_id, code) values ($1, $2) on conflict do nothing;

-- name: lifecycle_definition_lock
-- The row stays locked to the end of the transaction: of two imports at once the second sees what the first made.
insert into lifecycle_definitions (tenant_id, env, name) values ($1, $2, $3)
on conflict (tenant_id, env, name) do update set name = excluded.name
returning id, newest_version;

-- name: lifecycle_version_checksum
select checksum from lifecycle_versions where definition_id = $1 and version = $2;

-- name: lifecycle_version_add
with counted as (
  update lifecycle_definitions set newest_version = $2 where id = $1
)
insert into lifecycle_versions (definition_id, version, checksum, definition, policies) values ($1, $2, $3, $4::json, $5::json);

-- name: lifecycle_rows_add
-- $3 to $10 states, $11 to $13 events, $14 to $17 transitions, $18 to $21 policies, $22 to $28 routes; consumers of a route
-- as a json array, because arrays of arrays must be rectangular. Foreign keys are checked at the end of the statement.
with states as (
  insert into lifecycle_states (definition_id, version, name, is_initial, is_final, timeout_ms, timeout_event, timeout_mode, timeout_max, timeout_interval_ms)
  select $1::int, $2::int, s.* from unnest($3::text[], $4::boolean[], $5::boolean[], $6::bigint[], $7::text[], $8::text[], $9::int[], $10::bigint[]) s
),
events as (
  insert into lifecycle_events (definition_id, version, name, event_id, code)
  select $1::int, $2::int, e.* from unnest($11::text[], $12::uuid[], $13::bigint[]) e
),
transitions as (
  insert into lifecycle_transitions (definition_id, version, from_state, event, to_state, reenter)
  select $1::int, $2::int, t.* from unnest($14::text[], $15::text[], $16::text[], $17::boolean[]) t
),
policies as (
  insert into lifecycle_policies (definition_id, version, name, ordinal, applies_on, condition)
  select $1::int, $2::int, p.* from unnest($18::text[], $19::int[], $20::json[], $21::text[]) p
)
insert into lifecycle_routes (definition_id, version, policy, ordinal, hook, workflow, consumers, on_succeeded, on_failed)
select $1::int, $2::int, r.policy, r.ordinal, r.hook, r.workflow, array(select json_array_elements_text(r.consumers)), r.on_succeeded, r.on_failed
from unnest($22::text[], $23::int[], $24::text[], $25::text[], $26::json[], $27::text[], $28::text[])
  r (policy, ordinal, hook, workflow, consumers, on_succeeded, on_failed);

-- name: lifecycle_list
select d.tenant_id, d.env, d.name, d.newest_version, v.version, v.checksum, v.definition, v.policies, v.created_at
from lifecycle_definitions d
join lifecycle_versions v on v.definition_id = d.id and v.version = d.newest_version
where d.tenant_id = $1 and (d.env, d.name) > ($2::text, $3::text)
order by d.env, d.name limit $4;

-- name: lifecycle_version_list
-- Newest first. Without the definitions: a list of many would be large.
select v.version, v.checksum, v.created_at
from lifecycle_definitions d join lifecycle_versions v on v.definition_id = d.id
where d.tenant_id = $1 and d.env = $2 and d.name = $3 and ($4::int is null or v.version < $4)
order by v.version desc limit $5;

-- name: lifecycle_get
select d.tenant_id, d.env, d.name, d.newest_version, v.version, v.checksum, v.definition, v.policies, v.created_at
from lifecycle_definitions d
join lifecycle_versions v on v.definition_id = d.id and v.version = coalesce($4::int, d.newest_version)
where d.tenant_id = $1 and d.env = $2 and d.name = $3;

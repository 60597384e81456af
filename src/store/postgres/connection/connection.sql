-- Sealed secrets, and connections with their credentials.

-- name: secret_find
-- A value of the environment wins over one for all environments.
select tenant_id, environment_id, name, version, key_id, sealed from secrets
where tenant_id = $1 and name = $3 and environment_id in ($2, '') and ($4::int is null or version = $4)
order by environment_id = '', version desc limit 1;

-- name: secret_lock
select pg_advisory_xact_lock(hashtextextended($1 || chr(1) || $2 || chr(1) || $3, 7295));

-- name: secret_next_version
select coalesce(max(version), 0) + 1 as version from secrets where tenant_id = $1 and environment_id = $2 and name = $3;

-- name: secret_add
insert into secrets (tenant_id, environment_id, name, version, key_id, sealed, created_by)
values ($1, $2, $3, $4, $5, $6, $7)
returning environment_id, name, version, created_at, created_by;

-- name: secret_remove
delete from secrets where tenant_id = $1 and environment_id = $2 and name = $3 returning version;

-- name: secret_list
select distinct on (name, environment_id) environment_id, name, version, created_at, created_by from secrets
where tenant_id = $1 and (name, environment_id) > ($2, $4)
order by name, environment_id, version desc limit $3;

-- name: secret_of_other_keys
select tenant_id, environment_id, name, version, key_id, sealed from secrets where key_id <> $1 limit $2;

-- name: secret_reseal
update secrets set key_id = $6, sealed = $7
where tenant_id = $1 and environment_id = $2 and name = $3 and version = $4 and key_id = $5;

-- name: sealed_texts_of_other_keys
-- Read when a process starts: a scan of both tables, of which few rows have secrets.
select * from (
  select 'consumer/' || id as id, tenant_id, code, secrets from consumers
  union all
  select 'trigger/' || id, tenant_id, null, secrets from workflow_triggers) s
where cardinality(secrets) > 0 and id > $2 collate "C" and exists (select from unnest(secrets) u (secret) where not starts_with(secret, $1))
order by id collate "C" limit $3;

-- name: sealed_text_replace_consumer
update consumers set secrets = $3::text[] where id = $1::int and secrets = $2::text[];

-- name: sealed_text_replace_trigger
update workflow_triggers set secrets = $3::text[] where id = $1::uuid and secrets = $2::text[];

-- name: engine_secret_replace
update engine_secrets set value = $3 where name = $1 and value = $2;

-- name: connection_undefault
-- A new default replaces the previous one.
update connections set is_default = false
where tenant_id = $1 and connector = $2 and is_default and principal_id = '' and name <> $3;

-- name: connection_add
insert into connections (id, tenant_id, name, principal_id, connector, kind, settings, allowed_hosts, is_default, key_id, sealed, problem)
values ($1, $2, $3, $4, $5, $6, $7::json, $8::text[], $9, $10, $11, $12)
on conflict (tenant_id, name, principal_id) do nothing
returning id;

-- name: connection_change
update connections set connector = $5, kind = $6, settings = $7::json, allowed_hosts = $8::text[], is_default = $9, key_id = $10, sealed = $11,
  problem = $12, revision = revision + 1, tokens = case when $14::boolean then null else tokens end,
  tokens_key_id = case when $14::boolean then null else tokens_key_id end, updated_at = clock_timestamp()
where id = $1 and tenant_id = $2 and name = $3 and principal_id = $4 and revision = $13
returning id;

-- name: connection_remove
delete from connections where tenant_id = $1 and name = $2 and principal_id = $3 returning id;

-- name: connection_find
select * from connections where tenant_id = $1 and name = $2 and principal_id = $3;

-- name: connection_default
select * from connections where tenant_id = $1 and connector = $2 and is_default and principal_id = '';

-- name: connection_list
select * from connections
where tenant_id = $1 and (name, principal_id) > ($2, $3) and ($5::text is null or connector = $5)
order by name, principal_id limit $4;

-- name: connection_named
select distinct on (name) name, connector, kind from connections where tenant_id = $1 and name = any($2::text[]) order by name, principal_id;

-- name: connection_uses
-- Asked by people, about one name: the definitions of the tenant's current versions are read.
select 'workflow' as kind, w.id from workflows w
join workflow_definitions d on d.workflow_uid = w.uid and d.version = w.current_version
where w.tenant_id = $1 and w.deleted_at is null
  and jsonb_path_exists(d.definition::jsonb, '$.**.connection ? (@ == $name)', jsonb_build_object('name', $2::text))
union all
select 'consumer', c.code from consumers c where c.tenant_id = $1 and c.options::jsonb ->> 'connection' = $2
limit $3;

-- name: connection_token_claim
-- $2: seconds of the turn. If its holder dies, the next process gets it later.
with turn as (
  update connections set refreshing_until = clock_timestamp() + make_interval(secs => $2::float8)
  where id = $1 and (refreshing_until is null or refreshing_until < clock_timestamp())
  returning id
)
select c.*, exists (select from turn) as claimed from connections c where c.id = $1;

-- name: connection_token_save
update connections set refreshing_until = null, problem = $4,
  tokens_key_id = case when $2::text is null then tokens_key_id else $2 end, tokens = case when $2::text is null then tokens else $3 end
where id = $1;

-- name: connection_used
update connections set last_used_at = clock_timestamp() where id = any($1::uuid[]);

-- name: connection_checked
update connections set checked_at = clock_timestamp(), check_ok = $2, check_message = $3 where id = $1;

-- name: connection_of_other_keys
select * from connections where key_id <> $1 or tokens_key_id <> $1 limit $2;

-- name: connection_reseal
-- Tokens that were fetched meanwhile were sealed by somebody with a newer key, or come up again.
update connections set key_id = $4, sealed = $5,
  tokens_key_id = case when tokens_key_id is not distinct from $3 then $6 else tokens_key_id end,
  tokens = case when tokens_key_id is not distinct from $3 then $7 else tokens end
where id = $1 and key_id = $2 and refreshing_until is null;

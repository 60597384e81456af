-- API keys and rate limits.

-- name: api_key_create
insert into api_keys (id, tenant_id, name, hash, scopes, roles, limits, expires_at)
values ($1, $2, $3, $4, $5::text[], $6::text[], $7::json, $8::timestamptz);

-- name: api_key_find
select id, tenant_id, name, scopes, roles, limits, created_at, expires_at from api_keys
where hash = $1 and revoked_at is null and (expires_at is null or expires_at > clock_timestamp());

-- name: api_key_any
select exists (
  select from api_keys where revoked_at is null and (expires_at is null or expires_at > clock_timestamp())
) as found;

-- name: api_key_list
select id, tenant_id, name, scopes, roles, limits, created_at, expires_at, revoked_at from api_keys where tenant_id = $1 order by id;

-- name: api_key_revoke
update api_keys set revoked_at = clock_timestamp() where tenant_id = $1 and id = $2 and revoked_at is null returning id;

-- name: rate_spend
-- A refused request costs nothing, so what is left says how long to wait. The time is the statement's: the same in every
-- expression of it, and a statement that had to wait for the row never takes time away.
insert into rate_buckets as b (key, tokens, granted, filled_at) values ($1, $3::float8 - 1, true, statement_timestamp())
on conflict (key) do update set (tokens, granted) = (
    select filled - case when filled >= 1 then 1 else 0 end, filled >= 1
    from (select least($3, b.tokens + greatest(0, extract(epoch from statement_timestamp() - b.filled_at)) * $2::float8) as filled) f),
  filled_at = greatest(b.filled_at, statement_timestamp())
returning tokens, granted;

-- name: rate_purge
delete from rate_buckets where filled_at < clock_timestamp() - make_interval(secs => $1::float8) returning key;

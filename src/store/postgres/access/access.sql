-- API keys and rate limits.

-- name: api_key_create
insert into api_keys (id, tenant_id, name, hash, scopes, roles, limits, expires_at)
values ($1, $2, $3, $4, $5::text[], $6::text[], $7::json, $8::timestamptz);

-- name: api_key_find
-- Many at once: a flood of invented keys is one statement at a time.
select hash, id, tenant_id, name, scopes, roles, limits, created_at, expires_at from api_keys
where hash = any($1::bytea[]) and revoked_at is null and (expires_at is null or expires_at > clock_timestamp());

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

-- name: rate_reserve_bucket
-- $1 key, $2 perSecond, $3 burst, $4 the longest wait in seconds. Below zero the bucket owes requests that were promised a later time.
insert into rate_buckets as b (key, tokens, granted, filled_at) values ($1, $3::float8 - 1, true, statement_timestamp())
on conflict (key) do update set (tokens, granted) = (
    select case when fits then filled - 1 else filled end, fits
    from (select filled, (1 - filled) / $2::float8 <= $4::float8 or filled >= 1 as fits from (
      select least($3, b.tokens + greatest(0, extract(epoch from statement_timestamp() - b.filled_at)) * $2::float8) as filled) f) g),
  filled_at = greatest(b.filled_at, statement_timestamp())
returning granted, greatest(0, (case when granted then 0 else 1 end - tokens) / $2::float8) as wait;

-- name: rate_reserve_window
-- $1 key, $2 requests per minute, $3 the longest wait in seconds. The row is the last window that anybody was promised: filled_at is its
-- start, tokens what is left of it.
insert into rate_buckets as b (key, tokens, granted, filled_at) values ($1, $2::float8 - 1, true, date_trunc('minute', statement_timestamp()))
on conflict (key) do update set (filled_at, tokens, granted) = (
    select case when fits then at else b.filled_at end, case when fits then free - 1 else b.tokens end, fits
    from (select at, free, extract(epoch from at - statement_timestamp()) <= $3::float8 as fits from (
      select case when fresh then date_trunc('minute', statement_timestamp()) when b.tokens >= 1 then b.filled_at else b.filled_at + interval '1 minute' end as at,
        case when not fresh and b.tokens >= 1 then least(b.tokens, $2) else $2::float8 end as free
      from (select b.filled_at < date_trunc('minute', statement_timestamp()) as fresh) f) w) g)
returning granted, greatest(0, extract(epoch from
  filled_at + case when granted or tokens >= 1 then interval '0' else interval '1 minute' end - statement_timestamp()))::float8 as wait;

-- name: rate_reserve_log
-- $1 key, $2 requests in any 60 seconds, $3 the longest wait in seconds. Exact, and as large as the limit: a row holds $2 times.
insert into rate_buckets as b (key, tokens, granted, filled_at, log)
values ($1, 0, true, statement_timestamp(), array[extract(epoch from statement_timestamp())::float8])
on conflict (key) do update set (log, granted, filled_at) = (
    select case when fits then (b.log || at)[greatest(1, cardinality(b.log) + 2 - $2::int):] else b.log end, fits,
      greatest(b.filled_at, statement_timestamp())
    from (select at, at - extract(epoch from statement_timestamp())::float8 <= $3::float8 as fits from (
      select greatest(extract(epoch from statement_timestamp())::float8, coalesce(b.log[cardinality(b.log) - $2::int + 1] + 60, 0)) as at) n) g)
returning granted, greatest(0, case when granted then log[cardinality(log)] else log[greatest(1, cardinality(log) - $2::int + 1)] + 60 end
  - extract(epoch from statement_timestamp())::float8) as wait;

-- name: rate_purge
delete from rate_buckets where filled_at < clock_timestamp() - make_interval(secs => $1::float8) returning key;

-- What the HTTP API needs: who may ask (API keys), how often (buckets of rate limits), and why an execution is where it is.

-- up

-- Only the hash is kept: whoever reads this table cannot use a key.
create table api_keys (
  id uuid not null,
  tenant_id text not null,
  name text not null,
  hash bytea not null,
  scopes text[] not null,
  roles text[] not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  constraint api_keys_pkey primary key (id),
  constraint api_key_hash unique (hash),
  constraint api_key_hash_is_sha256 check (octet_length(hash) = 32)
);
create index api_key_by_tenant on api_keys (tenant_id, id);

-- Unlogged: after a crash every bucket is full again, which harms nobody.
create unlogged table rate_buckets (
  key text not null,
  tokens double precision not null,
  -- Whether the last request was let through: an upsert can return nothing but the row.
  granted boolean not null,
  filled_at timestamptz not null,
  constraint rate_buckets_pkey primary key (key)
) with (fillfactor = 50);

-- Why a live execution is not at work: for lists, and for operators with psql.
create function execution_why(id uuid) returns text
language sql stable parallel safe
return (
  select case
    when q.paused then 'paused'
    when q.state = 0 and not exists (
      select from runner_slots s join runner_leases l on l.runner_id = s.runner_id
      where s.state = 'live' and l.expires_at > clock_timestamp()) then 'noWorker'
    when q.state = 0 then 'queued'
    when exists (
      select from action_executions a where a.execution_id = q.execution_id and a.status = 'RetriableFailure'
        and not exists (select from action_executions n where n.execution_id = a.execution_id and n.node_id = a.node_id and n.attempt > a.attempt)
    ) then 'retrying'
    when q.state = 2 and q.waits > 0 then 'waiting'
    when q.state = 2 then 'sleeping'
    else 'running'
  end
  from execution_queue q where q.execution_id = $1
);

-- down

drop function execution_why;
drop table rate_buckets, api_keys;

-- Secrets of our own, and connections: credentials of tenants for other systems. Nothing secret lies here in the clear.

-- up

create table secrets (
  tenant_id text not null,
  -- '': of every environment.
  environment_id text not null,
  name text not null,
  version int not null,
  -- Which key sealed it; the key itself is elsewhere.
  key_id text not null,
  sealed bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null,
  constraint secrets_pkey primary key (tenant_id, name, environment_id, version),
  constraint secret_version_positive check (version > 0)
);
create index secret_by_key on secrets (key_id);

create table connections (
  id uuid not null,
  tenant_id text not null,
  name text not null,
  -- '': the tenant's; otherwise whose own token it is.
  principal_id text not null,
  connector text not null,
  kind text not null,
  -- What may be shown; the rest is sealed.
  settings json not null,
  allowed_hosts text[] not null default '{}',
  is_default boolean not null default false,
  revision int not null default 1,
  key_id text not null,
  sealed bytea not null,
  -- Tokens that an authorization server gave for it.
  tokens_key_id text,
  tokens bytea,
  -- One process at a time asks for new ones: a refresh token may be good for one use only.
  refreshing_until timestamptz,
  -- What must be done before it works; null: nothing is known to be wrong.
  problem text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  checked_at timestamptz,
  check_ok boolean,
  check_message text,
  constraint connections_pkey primary key (id),
  constraint connection_name unique (tenant_id, name, principal_id),
  constraint connection_kind_known check (kind in ('token', 'header', 'basic', 'oauth2-client-credentials', 'oauth2-code', 'aws-sigv4')),
  constraint connection_tokens_whole check ((tokens is null) = (tokens_key_id is null))
);
create unique index connection_one_default on connections (tenant_id, connector) where is_default and principal_id = '';
create index connection_by_key on connections (key_id);

-- down

drop table connections;
drop table secrets;

-- Plugins that were registered over the API, and how well each version has done: every process sees the same quarantine.

-- up

-- A version never changes: the same version with other code is refused.
create table plugins (
  plugin_id text not null,
  version text not null,
  digest text not null,
  manifest json not null,
  code text not null,
  registered_at timestamptz not null default clock_timestamp(),
  constraint plugins_pkey primary key (plugin_id, version),
  constraint plugin_digest_is_sha256 check (digest ~ '^[0-9a-f]{64}$')
);

-- Also of plugins that lie in a folder.
create table plugin_health (
  plugin_id text not null,
  version text not null,
  -- What became of the last calls, the newest last.
  calls boolean[] not null,
  quarantined_until timestamptz,
  constraint plugin_health_pkey primary key (plugin_id, version)
) with (fillfactor = 50);

-- down

drop table plugin_health, plugins;

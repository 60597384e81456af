-- Plugins that were registered, and the health of every version.

-- name: plugin_register
insert into plugins (plugin_id, version, digest, manifest, code) values ($1, $2, $3, $4::json, $5)
on conflict (plugin_id, version) do update set manifest = excluded.manifest where plugins.digest = excluded.digest
returning plugin_id;

-- name: plugin_get
select plugin_id, version, digest, manifest, code from plugins where plugin_id = $1 and version = $2;

-- name: plugin_list
select p.plugin_id, p.version, p.digest, p.registered_at, h.quarantined_until
from plugins p left join plugin_health h on h.plugin_id = p.plugin_id and h.version = p.version and h.quarantined_until > now()
where $1::text is null or p.plugin_id = $1 order by p.plugin_id, p.registered_at, p.version;

-- name: plugin_health_get
select version, calls, quarantined_until from plugin_health where plugin_id = $1;

-- name: plugin_health_put
insert into plugin_health (plugin_id, version, calls, quarantined_until) values ($1, $2, $3::boolean[], $4::timestamptz)
on conflict (plugin_id, version) do update set calls = excluded.calls,
  quarantined_until = case when plugin_health.quarantined_until > now() then plugin_health.quarantined_until else excluded.quarantined_until end;

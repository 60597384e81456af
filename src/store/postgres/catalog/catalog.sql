-- The catalog as people see it, and what an operator changes in it. The upsert at start is in workflow.sql.

-- name: connector_list
-- $1: the only one that is asked for.
select id, display_name, description, icon_url, documentation_url, config_schema, is_enabled, requires_auth, auth_type, version, capabilities, created_at
from connectors where $1::text is null or id = $1 order by id;

-- name: connector_update
update connectors set is_enabled = coalesce($2::boolean, is_enabled) where id = $1 returning id;

-- name: action_list
-- $4: the only one that is asked for.
select id, display_name, description, category, connector_id, parameter_schema, output_schema, is_enabled, version, deprecation_notice, tags, codes, created_at
from action_catalog
where ($1::text is null or connector_id = $1) and ($2::text is null or lower(category) = lower($2))
  and ($3::text is null or id ilike $3 or display_name ilike $3 or description ilike $3) and ($4::text is null or id = $4)
order by id;

-- name: actions_noticed
select a.id, a.is_enabled and c.is_enabled as "isEnabled", a.deprecation_notice as "deprecationNotice"
from action_catalog a join connectors c on c.id = a.connector_id
where not (a.is_enabled and c.is_enabled) or a.deprecation_notice is not null;

-- name: action_update
-- $3: whether the notice is to change, because null takes it away.
update action_catalog set is_enabled = coalesce($2::boolean, is_enabled),
  deprecation_notice = case when $3::boolean then $4 else deprecation_notice end,
  notice_is_operators = notice_is_operators or $3::boolean
where id = $1 returning id;

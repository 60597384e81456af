-- Templates: sets of documents and their versions, and workflows to start from. `…_of(tenant)` is what a tenant sees.

-- name: template_set_put
-- $1 tenant (null: everyone's), $5 whether it is enabled (null: as it is).
insert into template_sets as s (tenant_id, id, display_name, team, is_enabled)
values ($1, $2, $3, $4, coalesce($5::boolean, true))
on conflict on constraint template_set_name do update
set display_name = excluded.display_name, team = excluded.team, is_enabled = coalesce($5::boolean, s.is_enabled),
  updated_at = clock_timestamp()
returning s.id, s.tenant_id, s.display_name, s.team, s.is_enabled, s.created_at, s.updated_at, xmax = 0 as created;

-- name: template_set_get
select id, tenant_id, display_name, team, is_enabled, created_at, updated_at from template_sets_of($1) where id = $2;

-- name: template_set_list
select id, tenant_id, display_name, team, is_enabled, created_at, updated_at
from template_sets_of($1) where id > $2 and ($3::text is null or team = $3) order by id limit $4;

-- name: template_set_lock
-- Versions of a set are handed out one after the other.
select uid from template_sets where tenant_id is not distinct from $1 and id = $2 for no key update;

-- name: document_add
insert into template_definitions (set_uid, id, version, display_name, fields, body_template, help_markdown, is_enabled)
select $1, $2, coalesce(max(version), 0) + 1, $3, $4::json, $5, $6, $7::boolean
from template_definitions where set_uid = $1 and id = $2
returning version;

-- name: document_find
-- $2 set (null: any), $3 template, $4 version (null: the newest enabled, or else the newest).
select distinct on (s.uid) s.id as template_set_id, s.team, s.tenant_id is null as is_global, s.is_enabled as set_enabled,
  d.id as template_id, d.version, d.display_name, d.fields, d.body_template, d.help_markdown, d.is_enabled, d.created_at
from template_sets_of($1) s join template_definitions d on d.set_uid = s.uid
where d.id = $3 and ($2::text is null or s.id = $2) and ($4::int is null or d.version = $4)
order by s.uid, d.is_enabled desc, d.version desc;

-- name: document_list
select * from (
  select distinct on (s.id, d.id) s.id as template_set_id, s.team, s.tenant_id is null as is_global,
    d.id as template_id, d.version, d.display_name, d.is_enabled, d.created_at
  from template_sets_of($1) s join template_definitions d on d.set_uid = s.uid
  where s.is_enabled and d.is_enabled and ($2::text is null or s.team = $2) and ($3::text is null or s.id = $3)
    and (s.id, d.id) > ($4, $5)
  order by s.id, d.id, d.version desc
) newest order by template_set_id, template_id limit $6;

-- name: document_versions
select s.id as template_set_id, s.team, s.tenant_id is null as is_global,
  d.id as template_id, d.version, d.display_name, d.is_enabled, d.created_at
from template_sets_of($1) s join template_definitions d on d.set_uid = s.uid
where s.id = $2 and d.id = $3 and d.version < $4 order by d.version desc limit $5;

-- name: document_enable
update template_definitions d set is_enabled = $5::boolean from template_sets s
where s.uid = d.set_uid and s.tenant_id is not distinct from $1 and s.id = $2 and d.id = $3 and d.version = $4
returning d.version;

-- name: workflow_template_add
insert into workflow_templates (tenant_id, id, display_name, description, category, definition, config_schema, thumbnail_url, author, tags)
values ($1, $2, $3, $4, $5, $6::json, $7::json, $8, $9, $10::text[])
on conflict on constraint workflow_template_name do nothing
returning id;

-- name: workflow_template_replace
update workflow_templates set display_name = $3, description = $4, category = $5, definition = $6::json, config_schema = $7::json,
  thumbnail_url = $8, author = $9, tags = $10::text[], updated_at = clock_timestamp()
where tenant_id = $1 and id = $2
returning id;

-- name: workflow_template_remove
delete from workflow_templates where tenant_id = $1 and id = $2 returning id;

-- name: workflow_template_get
select id as template_id, tenant_id is not null as is_own, display_name, description, category, thumbnail_url, author, is_official, tags, created_at,
  updated_at, definition, config_schema
from workflow_templates_of($1) where id = $2;

-- name: workflow_template_list
-- $5 a pattern, already escaped.
select id as template_id, tenant_id is not null as is_own, display_name, description, category, thumbnail_url, author, is_official, tags,
  created_at, updated_at
from workflow_templates_of($1)
where id > $2 and ($3::text is null or category = $3) and ($4::boolean is null or is_official = $4)
  and ($5::text is null or id ilike $5 or display_name ilike $5 or description ilike $5 or array_to_string(tags, ' ') ilike $5)
order by id limit $6;

-- name: workflow_template_seed
-- One at a time, by id; a row that says the same already is not written again.
insert into workflow_templates as t (id, display_name, description, category, definition, config_schema, thumbnail_url, author, tags, is_official)
values ($1, $2, $3, $4, $5::json, $6::json, $7, $8, $9::text[], true)
on conflict on constraint workflow_template_name do update
set display_name = excluded.display_name, description = excluded.description, category = excluded.category,
  definition = excluded.definition, config_schema = excluded.config_schema, thumbnail_url = excluded.thumbnail_url,
  author = excluded.author, tags = excluded.tags, is_official = true, updated_at = clock_timestamp()
where (t.display_name, t.description, t.category, t.definition::text, t.config_schema::text, t.thumbnail_url, t.author, t.tags, t.is_official)
  is distinct from (excluded.display_name, excluded.description, excluded.category, excluded.definition::text,
    excluded.config_schema::text, excluded.thumbnail_url, excluded.author, excluded.tags, true)
returning t.id;

-- name: workflow_names_like
select id from workflows
where tenant_id = $1 and deleted_at is null and (id = $2 or (starts_with(id, $2 || '-') and substr(id, length($2) + 2) ~ '^[0-9]+$'));

-- Workflows: their life from draft to deletion, definitions and versions; the catalog of actions.
-- A row whose workflow was deleted keeps its name's versions for executions that still run; nobody else sees it.

-- name: workflow_revive
-- The name of a deleted workflow is taken over: another workflow, with an identity of its own.
update workflows set uid = gen_random_uuid(), display_name = $3, description = $4, format = $5, draft = $6::json, draft_checksum = $7,
  status = 'Draft', is_enabled = true, current_version = null, trigger_type = null, cron_expression = null, task_count = null,
  deleted_at = null, created_at = clock_timestamp(), updated_at = clock_timestamp()
where tenant_id = $1 and id = $2 and deleted_at is not null
returning id;

-- name: workflow_add
insert into workflows (tenant_id, id, display_name, description, format, draft, draft_checksum) values ($1, $2, $3, $4, $5, $6::json, $7)
on conflict (tenant_id, id) do nothing
returning id;

-- name: workflow_lock
-- First of a transaction that hands out versions: they are handed out one at a time.
select uid, status, is_enabled, current_version, draft_checksum, format from workflows
where tenant_id = $1 and id = $2 and deleted_at is null for update;

-- name: draft_save
-- Of a Draft everything may change; beside a published version only the draft does, and in the same format.
update workflows set draft = $6::json, draft_checksum = $7, updated_at = clock_timestamp(), format = $5,
  display_name = case when status = 'Draft' then $3 else display_name end,
  description = case when status = 'Draft' then $4 else description end
where tenant_id = $1 and id = $2 and deleted_at is null and draft is not null and (status = 'Draft' or format = $5)
  and ($8::text is null or draft_checksum = $8)
returning id;

-- name: draft_open
update workflows w set draft = d.definition, draft_checksum = d.checksum, updated_at = clock_timestamp()
from workflow_definitions d
where w.tenant_id = $1 and w.id = $2 and w.deleted_at is null and w.status = 'Active' and w.draft is null
  and d.tenant_id = w.tenant_id and d.workflow_id = w.id and d.version = w.current_version
returning w.id;

-- name: draft_drop
update workflows set draft = null, draft_checksum = null, updated_at = clock_timestamp()
where tenant_id = $1 and id = $2 and deleted_at is null and status <> 'Draft' and draft is not null
returning id;

-- name: draft_get
select 0 as version, format, draft as definition, draft_checksum as checksum, updated_at as created_at from workflows
where tenant_id = $1 and id = $2 and deleted_at is null and draft is not null;

-- name: draft_snapshot
-- Under the lock. An execution of the same draft shares its snapshot.
insert into workflow_definitions (tenant_id, workflow_id, workflow_uid, version, format, definition, checksum)
select w.tenant_id, w.id, w.uid, least((select min(version) from workflow_definitions where tenant_id = $1 and workflow_id = $2), 0) - 1,
  w.format, w.draft, w.draft_checksum
from workflows w where w.tenant_id = $1 and w.id = $2 and w.draft is not null
on conflict (workflow_uid, checksum, (version > 0)) do update set checksum = excluded.checksum
returning version, format;

-- name: definition_add
-- Under the lock. A checksum that the workflow had before brings that version back instead of a new one.
insert into workflow_definitions (tenant_id, workflow_id, workflow_uid, version, format, definition, checksum)
select $1, $2, $3, (select greatest(max(version), 0) + 1 from workflow_definitions where tenant_id = $1 and workflow_id = $2), $4, $5::json, $6
on conflict (workflow_uid, checksum, (version > 0)) do nothing
returning version;

-- name: definition_add_draft
insert into workflow_definitions (tenant_id, workflow_id, workflow_uid, version, format, definition, checksum)
select $1, $2, w.uid, (select greatest(max(version), 0) + 1 from workflow_definitions where tenant_id = $1 and workflow_id = $2),
  w.format, w.draft, w.draft_checksum
from workflows w where w.tenant_id = $1 and w.id = $2
on conflict (workflow_uid, checksum, (version > 0)) do nothing
returning version;

-- name: definition_find
select version from workflow_definitions where workflow_uid = $1 and checksum = $2 and version > 0;

-- name: workflow_activate
-- A draft that is another than what was published stays open.
update workflows set status = 'Active', is_enabled = $6::boolean, current_version = $3, display_name = $4, description = $5,
  format = $7, updated_at = clock_timestamp(),
  draft = case when status = 'Draft' or draft_checksum = $8 then null else draft end,
  draft_checksum = case when status = 'Draft' or draft_checksum = $8 then null else draft_checksum end
where tenant_id = $1 and id = $2;

-- name: workflow_archive
with archived as (
  update workflows set status = 'Archived', is_enabled = false, updated_at = clock_timestamp()
  where tenant_id = $1 and id = $2 and deleted_at is null and status = 'Active'
  returning tenant_id, id
),
silenced as (
  update workflow_triggers t set is_enabled = false, disabled_by_archive = true
  from archived a where t.tenant_id = a.tenant_id and t.workflow_id = a.id and t.is_enabled
)
select id from archived;

-- name: workflow_reactivate
with reactivated as (
  update workflows set status = 'Active', is_enabled = true, updated_at = clock_timestamp()
  where tenant_id = $1 and id = $2 and deleted_at is null and status = 'Archived'
  returning tenant_id, id
),
restored as (
  -- Schedules start anew: what they would have fired meanwhile is not caught up.
  update workflow_triggers t set is_enabled = true, disabled_by_archive = false, revision = revision + 1, due_at = '-infinity',
    settled_through = date_trunc('milliseconds', clock_timestamp())
  from reactivated r where t.tenant_id = r.tenant_id and t.workflow_id = r.id and t.disabled_by_archive
)
select id from reactivated;

-- name: workflow_enable
update workflows set is_enabled = $3, updated_at = clock_timestamp()
where tenant_id = $1 and id = $2 and deleted_at is null and status <> 'Archived'
returning id;

-- name: workflow_remove
-- A Draft that never had a version leaves nothing behind. A version's number is never used again: executions refer to it, and
-- processes keep its plan.
delete from workflows w
where w.tenant_id = $1 and w.id = $2 and w.deleted_at is null and w.status = 'Draft'
  and not exists (select from workflow_definitions d where d.tenant_id = w.tenant_id and d.workflow_id = w.id)
returning w.id;

-- name: workflow_retire
-- Its versions stay, but the name is free.
with retired as (
  update workflows set deleted_at = clock_timestamp()
  where tenant_id = $1 and id = $2 and deleted_at is null and (status = 'Draft' or format = 'pipeline')
  returning tenant_id, id
),
silenced as (
  delete from workflow_triggers t using retired r where t.tenant_id = r.tenant_id and t.workflow_id = r.id
)
select id from retired;

-- name: workflow_find
select w.uid, w.id as workflow_id, w.display_name, w.description, w.format, w.status, w.is_enabled, w.current_version,
  w.draft is not null as has_draft, w.trigger_type, w.cron_expression, w.task_count, w.created_at, w.updated_at,
  case when w.trigger_type = 'webhook' then
    (select t.id from workflow_triggers t where t.tenant_id = w.tenant_id and t.workflow_id = w.id and t.trigger_type = 'Webhook'
     order by t.created_at, t.id limit 1)
  end as webhook_trigger_id
from (
  select uid from workflows where tenant_id = $1 and id = $2::text union select uid from workflows where uid = $3::uuid
) found
cross join lateral (select * from workflows w where w.uid = found.uid and w.tenant_id || '' = $1 and w.deleted_at is null offset 0) w;

-- name: workflow_list
select w.uid, w.id as workflow_id, w.display_name, w.description, w.format, w.status, w.is_enabled, w.current_version,
  w.draft is not null as has_draft, w.trigger_type, w.cron_expression, w.task_count, w.created_at, w.updated_at,
  case when w.trigger_type = 'webhook' then
    (select t.id from workflow_triggers t where t.tenant_id = w.tenant_id and t.workflow_id = w.id and t.trigger_type = 'Webhook'
     order by t.created_at, t.id limit 1)
  end as webhook_trigger_id
from workflows w
where w.tenant_id = $1 and w.deleted_at is null and w.id > $2
  and ($3::text is null or w.status = $3) and ($4::boolean is null or w.is_enabled = $4) and ($5::text is null or w.format = $5)
  and ($6::text is null or position(lower($6) in lower(concat_ws(E'\n', w.id, w.display_name, w.description))) > 0)
order by w.id limit $7;

-- name: workflow_get
select id as workflow_id, display_name, format, status, is_enabled, current_version from workflows
where tenant_id = $1 and id = $2 and deleted_at is null;

-- name: workflow_standings
-- For the subworkflows of a definition: all of them in one question.
select w.status, coalesce(w.is_enabled, false) as "isEnabled",
  exists (select from workflow_definitions d where d.workflow_uid = w.uid and d.version = wanted.version and d.version > 0 offset 0) as "hasVersion"
from unnest($2::text[], $3::int[]) with ordinality wanted (id, version, place)
left join lateral (select * from workflows w where w.tenant_id = $1 and w.id = wanted.id and w.deleted_at is null offset 0) w on true
order by wanted.place;

-- name: definition_driver
select driver from workflow_definitions where tenant_id = $1 and workflow_id = $2 and version = $3;

-- name: definition_get
-- Whatever an execution was started with, also when its workflow was deleted since.
select d.format, d.definition, d.checksum, w.status
from workflow_definitions d
join workflows w on w.tenant_id = d.tenant_id and w.id = d.workflow_id
where d.tenant_id = $1 and d.workflow_id = $2 and d.version = $3;

-- name: workflow_statuses
-- Of the workflows of many tenants at once: a runner asks again and again whether those that it has plans of are archived.
select wanted.place::int, w.status
from unnest($1::text[], $2::text[]) with ordinality wanted (tenant_id, id, place)
cross join lateral (select w.status from workflows w where w.tenant_id = wanted.tenant_id and w.id = wanted.id offset 0) w;

-- name: child_targets
-- For the children that many executions start in one moment.
select wanted.place::int, w.status, w.is_enabled, coalesce(wanted.version, w.current_version) as version,
  (select d.format from workflow_definitions d
   where d.tenant_id = wanted.tenant_id and d.workflow_id = wanted.id and d.version = coalesce(wanted.version, w.current_version)) as format
from unnest($1::text[], $2::text[], $3::int[]) with ordinality wanted (tenant_id, id, version, place)
cross join lateral (
  select w.status, w.is_enabled, w.current_version from workflows w
  where w.tenant_id = wanted.tenant_id and w.id = wanted.id and w.deleted_at is null offset 0
) w;

-- name: version_get
select d.version, d.format, d.definition, d.checksum, d.created_at
from workflow_definitions d
join workflows w on w.tenant_id = d.tenant_id and w.id = d.workflow_id and w.uid = d.workflow_uid and w.deleted_at is null
where d.tenant_id = $1 and d.workflow_id = $2 and d.version = $3;

-- name: version_list
select d.version, d.format, d.checksum, d.created_at
from workflow_definitions d
join workflows w on w.tenant_id = d.tenant_id and w.id = d.workflow_id and w.uid = d.workflow_uid and w.deleted_at is null
where d.tenant_id = $1 and d.workflow_id = $2 and d.version > 0 and d.version < $3
order by d.version desc limit $4;

-- name: workflow_identity
-- Of a deleted workflow too: its runs go on, and are asked for. A name is that of its newest owner.
select w.id as "workflowId", w.uid from workflows w where w.tenant_id = $1 and w.id = $2::text
union all
select w.id, w.uid from workflows w where w.uid = $3::uuid and w.tenant_id || '' = $1
union all
select d.workflow_id, d.workflow_uid from workflow_definitions d where d.tenant_id || '' = $1 and d.workflow_uid = $3::uuid
limit 1;

-- name: version_owner
select d.workflow_uid as uid from workflow_definitions d where d.tenant_id = $1 and d.workflow_id = $2 and d.version = $3;

-- name: workflow_runs
-- A pipeline completes whatever became of its tasks, so those that failed are counted (as in execution_brief). One that was renamed has
-- runs under each of its names.
select run.* from (
  select distinct d.workflow_id from workflow_definitions d where d.tenant_id || '' = $1 and d.workflow_uid = $4
) named
cross join lateral (
  select x.id as execution_id, x.workflow_version as version, x.status, x.created_at, x.ended_at,
    case when x.format = 'pipeline' and x.status = 'Succeeded' then (
      select count(*)::int from (
        select distinct on (a.node_id) a.status from action_executions a where a.execution_id = x.id order by a.node_id, a.attempt desc
      ) last where last.status in ('Failed', 'TimedOut')) else 0 end as failed_nodes
  from executions_view x
  where x.tenant_id = $1 and x.workflow_id = named.workflow_id and ($2::uuid is null or x.id < $2)
    and ($5::text[] is null or x.status = any($5))
    and x.workflow_version = any(array(
      select d.version from workflow_definitions d where d.tenant_id = $1 and d.workflow_id = named.workflow_id and d.workflow_uid = $4))
  order by x.id desc limit $3
) run
order by run.execution_id desc limit $3;

-- name: pipeline_leave_name
-- The first step of a rename: the row stays for its versions, which executions in flight refer to, and gives up its identity.
update workflows set uid = gen_random_uuid(), deleted_at = clock_timestamp() where tenant_id = $1 and id = $2;

-- name: pipeline_take_over
update workflows w set uid = $3, is_enabled = $5,
  created_at = (select old.created_at from workflows old where old.tenant_id = $1 and old.id = $4)
where w.tenant_id = $1 and w.id = $2;

-- name: pipeline_triggers_move
update workflow_triggers set workflow_id = $2 where tenant_id = $1 and workflow_id = $3;

-- name: pipeline_describe
update workflows set trigger_type = $3, cron_expression = $4, task_count = $5 where tenant_id = $1 and id = $2;

-- name: pipeline_trigger_drop
-- What the pipeline says is the only thing that may start it by itself; the type that stays keeps its id, and so its URL.
delete from workflow_triggers where id = any(array(
  -- A range and an order that only trigger_by_workflow has: so it is used whatever the statistics say.
  select t.id from workflow_triggers t where t.tenant_id = $1 and t.workflow_id >= $2 and t.workflow_id <= $2 order by t.workflow_id))
  and trigger_type in ('Webhook', 'Schedule')
  and trigger_type is distinct from $3;

-- name: pipeline_trigger_change
-- A cron expression that changed counts from now on. $5: a secret that is new comes first, the one before it stays valid.
update workflow_triggers set config = $4::json,
  secrets = case when $5::text is null or $5 = any(secrets) then secrets when cardinality(secrets) > 0 then array[$5, secrets[1]] else array[$5] end,
  (revision, due_at, settled_through) = (
    select case when again then revision + 1 else revision end, case when again then '-infinity' else due_at end,
      case when again then date_trunc('milliseconds', clock_timestamp()) else settled_through end
    from (select config::text <> $4::json::text as again) c)
where id = any(array(
  -- A range and an order that only trigger_by_workflow has: so it is used whatever the statistics say.
  select t.id from workflow_triggers t where t.tenant_id = $1 and t.workflow_id >= $2 and t.workflow_id <= $2 order by t.workflow_id))
  and trigger_type = $3 returning id;

-- name: pipeline_trigger_add
insert into workflow_triggers (tenant_id, workflow_id, trigger_type, config, secrets)
values ($1, $2, $3, $4::json, case when $5::text is null then '{}' else array[$5] end);

-- name: connector_upsert
-- is_enabled is the operator's: never in the update.
insert into connectors (id, display_name, description, icon_url, documentation_url, config_schema, requires_auth, auth_type, version, capabilities)
select c.id, c.display_name, c.description, c.icon_url, c.documentation_url, c.config_schema::json, c.requires_auth, c.auth_type, c.version,
  array(select json_array_elements_text(c.capabilities))
from json_to_recordset($1::json) c (id text, display_name text, description text, icon_url text, documentation_url text,
  config_schema text, requires_auth boolean, auth_type text, version text, capabilities json)
order by c.id
on conflict (id) do update set display_name = excluded.display_name, description = excluded.description,
  icon_url = excluded.icon_url, documentation_url = excluded.documentation_url, config_schema = excluded.config_schema,
  requires_auth = excluded.requires_auth, auth_type = excluded.auth_type, version = excluded.version, capabilities = excluded.capabilities;

-- name: action_upsert
-- Nor is_enabled, nor a notice that an operator set or took away.
insert into action_catalog (id, display_name, description, category, connector_id, parameter_schema, output_schema, version, deprecation_notice, tags, codes)
select a.id, a.display_name, a.description, a.category, a.connector_id, a.parameter_schema::json, a.output_schema::json, a.version,
  a.deprecation_notice, array(select json_array_elements_text(a.tags)),
  case when json_typeof(a.codes) = 'array' then array(select json_array_elements_text(a.codes)) end
from json_to_recordset($1::json) a (id text, display_name text, description text, category text, connector_id text,
  parameter_schema text, output_schema text, version text, deprecation_notice text, tags json, codes json)
order by a.id
on conflict (id) do update set display_name = excluded.display_name, description = excluded.description, category = excluded.category,
  connector_id = excluded.connector_id, parameter_schema = excluded.parameter_schema, output_schema = excluded.output_schema,
  version = excluded.version, tags = excluded.tags, codes = excluded.codes,
  deprecation_notice = case when action_catalog.notice_is_operators then action_catalog.deprecation_notice else excluded.deprecation_notice end;

-- name: workflow_activity
-- Along execution_by_workflow and trigger_by_workflow: a few probes for each. A schedule that no scheduler has looked at yet has no time.
select w.id as workflow_id, last.id as last_id, last.created_at as last_created_at,
  (select v.status from executions_view v where v.id = last.id) as last_status,
  (select min(t.due_at) from workflow_triggers t
   where t.tenant_id = $1 and t.workflow_id = w.id and t.trigger_type = 'Schedule' and t.is_enabled and isfinite(t.due_at)) as next_fire_at
from unnest($2::text[]) w (id)
left join lateral (
  select e.id, e.created_at from workflow_executions e where e.tenant_id = $1 and e.workflow_id = w.id order by e.id desc limit 1
) last on true;

-- name: versions_live
select version, count(*)::int as count
from (select q.version from execution_queue q where q.tenant_id = $1 and q.workflow_id = $2 limit 10000) q
group by version;

-- name: plan_find
-- The version that somebody who may not publish runs: it must be there already, and is not made the current one.
select d.version, w.status, w.is_enabled as "isEnabled"
from workflows w join workflow_definitions d on d.workflow_uid = w.uid
where w.tenant_id = $1 and w.id = $2 and w.format = 'plan' and d.checksum = $3 and d.version > 0;

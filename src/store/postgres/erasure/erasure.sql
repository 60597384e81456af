-- Erasure: what names a person, or all of a tenant. An operator's action, so it may read whole tables of the tenant.

-- name: erasure_executions
-- $1 tenant, $2 pattern; null: all. With those that they started: what a child was given came from its parent.
with recursive named as (
  select e.id from workflow_executions e
  where e.tenant_id = $1 and ($2::text is null
    or concat_ws(' ', e.principal::text, e.trigger::text, e.spec::text, e.request_id, e.correlation_id) like $2
    or exists (select from execution_outcomes o where o.execution_id = e.id and concat_ws(' ', o.outputs::text, o.error::text, o.context_snapshot::text) like $2)
    or exists (select from execution_events t where t.execution_id = e.id and concat_ws(' ', t.facts::text, t.inputs::text) like $2)
    or exists (select from action_executions a where a.execution_id = e.id and concat_ws(' ', a.outputs::text, a.error::text) like $2)
    or exists (select from action_logs l where l.execution_id = e.id and concat_ws(' ', l.message, l.data::text) like $2)
    or exists (select from execution_signals s where s.execution_id = e.id and s.body::text like $2))
  union
  select c.id from named join workflow_executions c on c.parent_id = named.id
)
select named.id, exists (select from execution_queue q where q.execution_id = named.id) as is_live from named;

-- name: erasure_instances
select i.id from lifecycle_instances i join lifecycle_definitions d on d.id = i.definition_id
where d.tenant_id = $1 and ($2::text is null or i.external_ref like $2 or exists (
  select from lifecycle_timeline t where t.instance_id = i.id and concat_ws(' ', t.actor, t.request_id, t.payload::text, t.cause::text) like $2));

-- name: erasure_remove
-- $1 tenant, $2 pattern, $3 executions, $4 instances.
with executions as (delete from workflow_executions where id = any($3::uuid[]) returning id),
outcomes as (delete from execution_outcomes where execution_id = any($3::uuid[])),
events as (delete from execution_events where execution_id = any($3::uuid[]) returning 1),
attempts as (delete from action_executions where execution_id = any($3::uuid[]) returning 1),
checkpoints as (delete from execution_checkpoints where execution_id = any($3::uuid[])),
inbox as (delete from execution_inbox where execution_id = any($3::uuid[])),
external_runs as (delete from external_runs where execution_id = any($3::uuid[])),
signals as (delete from execution_signals where execution_id = any($3::uuid[]) returning 1),
links as (delete from workflow_resource_links where execution_id = any($3::uuid[])),
logs as (delete from action_logs where execution_id = any($3::uuid[]) returning 1),
live as (delete from live_lines where execution_id = any($3::uuid[])),
artifacts as (
  update artifacts set sha256 = null, size_bytes = null, name = 'erased', expires_at = now()
  where tenant_id = $1 and execution_id = any($3::uuid[]) returning 1
),
instances as (delete from lifecycle_instances where id = any($4::uuid[]) returning 1),
timeline as (delete from lifecycle_timeline where instance_id = any($4::uuid[]) returning 1),
reactions as (delete from lifecycle_reactions where instance_id = any($4::uuid[])),
messages as (
  delete from messages where tenant_id = $1
    and (subject_id = any($3::uuid[]) or subject_id = any($4::uuid[]) or $2::text is null or body::text like $2)
  returning ack_guid
),
deliveries as (delete from deliveries where ack_guid in (select ack_guid from messages) returning 1),
firings as (
  delete from trigger_firings where tenant_id = $1
    and (execution_id = any($3::uuid[]) or $2::text is null or concat_ws(' ', request_id, reason) like $2)
  returning 1
),
letters as (
  delete from dead_letters where tenant_id = $1
    and (execution_id = any($3::uuid[]) or $2::text is null or concat_ws(' ', request_id, payload::text, last_error) like $2)
  returning 1
),
notices as (delete from notices where tenant_id = $1 and ($2::text is null or body::text like $2) returning 1),
failures as (
  delete from failure_groups where tenant_id = $1 and (sample_id = any($3::uuid[]) or $2::text is null or message like $2) returning 1
)
select (select count(*)::int from executions) as executions, (select count(*)::int from events) as events,
  (select count(*)::int from attempts) as attempts, (select count(*)::int from logs) as logs, (select count(*)::int from signals) as signals,
  (select count(*)::int from artifacts) as artifacts, (select count(*)::int from instances) as instances,
  (select count(*)::int from timeline) as timeline_entries, (select count(*)::int from messages) as messages,
  (select count(*)::int from deliveries) as deliveries, (select count(*)::int from firings) as firings,
  (select count(*)::int from letters) as dead_letters, (select count(*)::int from notices) as notices,
  (select count(*)::int from failures) as failure_groups;

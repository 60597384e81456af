-- Reading: what people and programs ask. These run on the read pool, with the planner's own settings.

-- name: execution_get
select id, tenant_id, workflow_id, workflow_version, format, priority, behaviour, trigger, spec, principal, correlation_id,
  workflow_request_id, parent_execution_id, parent_node, depth, project_id, environment_id, created_at, status, started_at,
  ended_at, outputs, error, context_snapshot
from executions_view where id = $1 and tenant_id = $2;

-- name: execution_tenant
-- Whose execution it is, for callers that prove their right otherwise: the holder of a callback token.
select tenant_id from workflow_executions where id = $1;

-- name: request_tenant
-- Without a tenant no index leads there: for a development database.
select tenant_id from workflow_executions where request_id = $1 order by id desc limit 1;

-- name: callback_target
-- Three probes by key. Nearly always nothing of the node has ended yet and nothing was skipped, and that is all there is to know.
select e.tenant_id, e.workflow_id, e.version, live.found as is_live, coalesce(ended.status = 'Succeeded', false) as was_received,
  ended.status is not null or exists (
    select from execution_events v where v.execution_id = $1 and v.facts::text like '%"NodeSkipped"%') as may_be_over
from workflow_executions e
cross join lateral (select exists (select from execution_queue q where q.execution_id = e.id) as found) live
left join lateral (
  select a.status from action_executions a where a.execution_id = e.id and a.node_id = $2 order by a.attempt desc limit 1
) ended on true
where e.id = $1;

-- name: execution_by_request
select id from workflow_executions where tenant_id = $1 and request_id = $2;

-- name: execution_children
select id, tenant_id, workflow_id, workflow_version, format, priority, behaviour, trigger, spec, principal, correlation_id,
  workflow_request_id, parent_execution_id, parent_node, depth, project_id, environment_id, created_at, status, started_at,
  ended_at, outputs, error, context_snapshot
from executions_view where parent_execution_id = $1 order by id;

-- Lists are two statements: which ids, then their rows. What drives the first differs by what is asked, and each goes along one
-- index, newest first, and stops when the page is full. $2 and $13: ids below and from, which begin with their time.

-- name: execution_page
select e.id from workflow_executions e
where e.tenant_id = $1 and e.id < $2::uuid and e.id >= $13::uuid
  and ($4::text is null or e.workflow_id = $4) and ($8::uuid is null or e.parent_id = $8)
    and ($5::int is null or greatest(e.version, 0) = $5) and ($7::text is null or e.format = $7)
    and ($9::timestamptz is null or e.created_at >= $9) and ($10::timestamptz is null or e.created_at < $10)
    and ($6::text[] is null or (select v.status from executions_view v where v.id = e.id) = any($6))
    and ($11::text is null or exists (select from execution_outcomes o where o.execution_id = e.id and o.error::text ilike $11))
  and $12::text is null
order by e.id desc limit $3;

-- name: execution_page_of_workflow
-- Along execution_by_workflow.
select e.id from workflow_executions e
where e.tenant_id = $1 and e.workflow_id = $4::text and e.id < $2::uuid and e.id >= $13::uuid
  and ($8::uuid is null or e.parent_id = $8)
    and ($5::int is null or greatest(e.version, 0) = $5) and ($7::text is null or e.format = $7)
    and ($9::timestamptz is null or e.created_at >= $9) and ($10::timestamptz is null or e.created_at < $10)
    and ($6::text[] is null or (select v.status from executions_view v where v.id = e.id) = any($6))
    and ($11::text is null or exists (select from execution_outcomes o where o.execution_id = e.id and o.error::text ilike $11))
  and $12::text is null
order by e.id desc limit $3;

-- name: execution_page_of_parent
-- Along execution_by_parent: the children of one execution are few.
select e.id from workflow_executions e
where e.parent_id = $8::uuid and e.tenant_id = $1 and e.id < $2::uuid and e.id >= $13::uuid
  and ($4::text is null or e.workflow_id = $4)
    and ($5::int is null or greatest(e.version, 0) = $5) and ($7::text is null or e.format = $7)
    and ($9::timestamptz is null or e.created_at >= $9) and ($10::timestamptz is null or e.created_at < $10)
    and ($6::text[] is null or (select v.status from executions_view v where v.id = e.id) = any($6))
    and ($11::text is null or exists (select from execution_outcomes o where o.execution_id = e.id and o.error::text ilike $11))
  and $12::text is null
order by e.id desc limit $3;

-- name: execution_page_live
-- What is live is in the queue. An index for this order would cost every execution; a sort costs only those who ask.
select q.execution_id as id
from execution_queue q
where q.tenant_id = $1 and q.execution_id < $2::uuid and q.execution_id >= $13::uuid
  and ($4::text is null or q.workflow_id = $4) and ($5::int is null or greatest(q.version, 0) = $5)
  and ($6::text[] is null or case when q.epoch = 0 then 'Pending' when q.paused then 'Paused' else 'Running' end = any($6))
  and ($12::text is null or execution_why(q.execution_id) = $12)
  -- Only where it is asked for: a look-up for each row.
  and (($7::text is null and $8::uuid is null and $9::timestamptz is null and $10::timestamptz is null) or exists (
    select from workflow_executions e where e.id = q.execution_id and ($7 is null or e.format = $7) and ($8 is null or e.parent_id = $8)
      and ($9 is null or e.created_at >= $9) and ($10 is null or e.created_at < $10)))
  and $11::text is null
order by q.execution_id desc limit $3;

-- name: execution_page_ended
-- Each status along outcome_by_status, then the newest of them all.
select page.id
from unnest($6::text[]) wanted (status)
cross join lateral (
  select o.execution_id as id from execution_outcomes o
  where o.tenant_id = $1 and o.status = wanted.status and o.execution_id < $2::uuid and o.execution_id >= $13::uuid
    and ($11::text is null or o.error::text ilike $11) and $12::text is null
    and (($4::text is null and $5::int is null and $7::text is null and $8::uuid is null and $9::timestamptz is null and $10::timestamptz is null)
      or exists (select from workflow_executions e where e.id = o.execution_id and ($4 is null or e.workflow_id = $4)
        and ($5 is null or greatest(e.version, 0) = $5) and ($7 is null or e.format = $7) and ($8 is null or e.parent_id = $8)
        and ($9 is null or e.created_at >= $9) and ($10 is null or e.created_at < $10)))
  order by o.execution_id desc limit $3
) page
order by page.id desc limit $3;

-- name: execution_rows
select v.id, v.tenant_id, v.workflow_id, v.workflow_version, v.format, v.priority, v.behaviour, v.trigger, v.spec, v.principal, v.correlation_id,
  v.workflow_request_id, v.parent_execution_id, v.parent_node, v.depth, v.project_id, v.environment_id, v.created_at, v.status, v.started_at,
  v.ended_at, v.outputs, v.error, null::json as context_snapshot, case when v.ended_at is null then execution_why(v.id) end as why
from unnest($1::uuid[]) wanted (id) join executions_view v on v.id = wanted.id
order by v.id desc;

-- name: execution_tree
-- Breadth first, so parents come before their children.
with recursive tree as (
  select e.id, e.workflow_id, e.parent_id, e.parent_node, 0 as level from workflow_executions e where e.id = $1 and e.tenant_id = $2
  union all
  select c.id, c.workflow_id, c.parent_id, c.parent_node, tree.level + 1
  from tree join workflow_executions c on c.parent_id = tree.id and c.tenant_id = $2
)
select t.id, t.workflow_id, t.parent_id, t.parent_node, v.status
from (select * from tree order by level, id limit $3) t join executions_view v on v.id = t.id
order by t.level, t.id;

-- name: execution_links
select system_name, resource_type, resource_id, external_url, node_id from workflow_resource_links
where execution_id = $1 order by created_at, system_name, resource_type, resource_id;

-- name: queue_depth
select workflow_id, tenant_id, count(*)::int as depth from execution_queue group by workflow_id, tenant_id;

-- name: store_health
-- A standby, or a database that was set read-only, answers reads and takes nothing. A message that was sent to a bus more
-- than once, and has still not arrived, says that the bus is away: a first attempt may be on its way.
with for_bus as materialized (
  select d.attempts from consumers c
  cross join lateral (
    select d.attempts from deliveries d where d.consumer_id = c.id and d.next_attempt_at is not null and d.stage in (0, 3)
  ) d
  where c.kind = 'nats' and not c.is_paused limit 10000
)
select (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
  not pg_is_in_recovery() and current_setting('default_transaction_read_only') = 'off' as writable,
  (select count(*)::int from (select from commit_batches limit 10000) waiting) + (select count(*)::int from for_bus) as backlog,
  exists (select from for_bus where attempts > 1) as bus_is_away;

-- name: execution_attempts
select execution_id, node_id, attempt, action_type, status, started_seq, outputs, error, started_at, ended_at
from action_executions where execution_id = $1 order by started_seq, node_id, attempt;

-- name: execution_parameters
select seq, inputs from execution_events where execution_id = $1 and inputs is not null order by seq;

-- name: execution_journal
select seq, at, facts from execution_events where execution_id = $1 and seq > $2 order by seq limit $3;

-- name: execution_journal_from
-- A page of facts may end in the middle of a transition, so the row that holds fact $2 is read again.
select seq, at, facts from execution_events
where execution_id = $1
  and seq >= coalesce((select max(t.seq) from execution_events t where t.execution_id = $1 and t.seq <= $2), 0)
order by seq limit $3;

-- name: execution_logs
select node_id, attempt, at, level, message, data from action_logs where execution_id = $1 order by id limit $2;

-- name: resource_find
select execution_id, node_id, external_url from workflow_resource_links
where tenant_id = $1 and system_name = $2 and resource_type = $3 and resource_id = $4;

-- name: resource_link_reserve
-- Before the commit, so that of two executions that find the same resource at the same moment one knows that it lost. The
-- commit inserts the same rows again, to no effect. A crash in between leaves a link of an execution that will make it anyway.
insert into workflow_resource_links (tenant_id, system_name, resource_type, resource_id, execution_id, node_id, attempt, external_url)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::text[], $7::smallint[], $8::text[])
on conflict do nothing;

-- name: resource_link_check
-- Resources that another execution holds (WFENG003): a new statement after the reservation, which sees who won.
select l.system_name, l.resource_type, l.resource_id, l.execution_id
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::uuid[]) wanted (tenant_id, system_name, resource_type, resource_id, execution_id)
join workflow_resource_links l on l.tenant_id = wanted.tenant_id and l.system_name = wanted.system_name
  and l.resource_type = wanted.resource_type and l.resource_id = wanted.resource_id and l.execution_id <> wanted.execution_id;


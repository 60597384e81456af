-- Reading: what people and programs ask. These run on the read pool, with the planner's own settings.

-- name: execution_get
select @{execution_view}
from executions_view where id = @executionId and tenant_id || '' = @tenantId;

-- name: execution_get_many
-- For whoever awaits many executions that have ended already.
select @{execution_view}
from executions_view where id = any(@executionIds::uuid[]) and tenant_id || '' = @tenantId;

-- name: execution_known
select id as execution_id from workflow_executions where id = any(@executionIds::uuid[]);

-- name: execution_ended
-- @executionIds executions that somebody waits for: one statement for everybody who waits in this process.
select execution_id from execution_outcomes where execution_id = any(@executionIds::uuid[]);

-- name: execution_heads
-- @executionIds executions that somebody follows. Three index probes for each, and no journal is read.
select awaited.id as execution_id,
  coalesce((select e.seq from execution_events e where e.execution_id = awaited.id order by e.seq desc limit 1), -1) as seq,
  exists (select from execution_outcomes o where o.execution_id = awaited.id) as ended,
  coalesce((select max(l.id) from live_lines l where l.execution_id = awaited.id), 0)::float8 as line_id
from unnest(@executionIds::uuid[]) awaited(id);

-- name: execution_tenant
-- Whose execution it is, for callers that prove their right otherwise: the holder of a callback token.
select tenant_id from workflow_executions where id = @executionId;

-- name: request_tenant
-- Without a tenant no index leads there: for a development database.
select tenant_id from workflow_executions where request_id = @requestId order by id desc limit 1;

-- name: callback_target
-- Callbacks come in bursts, so one statement looks up many targets, each by three index probes. Usually the node has no ended attempt
-- and the execution skipped nothing; then nothing else has to be read.
select asked.place::int, e.*
from unnest(@executionIds::uuid[], @nodeIds::text[]) with ordinality asked (execution_id, node_id, place)
cross join lateral (
  select e.tenant_id, e.workflow_id, e.version, live.found as is_live, coalesce(ended.status = 'Succeeded', false) as was_received,
    ended.status is not null or exists (
      select from execution_events v where v.execution_id = asked.execution_id and v.facts::text like '%"NodeSkipped"%') as may_be_over
  from workflow_executions e
  cross join lateral (select exists (select from execution_queue q where q.execution_id = e.id) as found) live
  left join lateral (
    select a.status from action_executions a where a.execution_id = e.id and a.node_id = asked.node_id order by a.attempt desc limit 1
  ) ended on true
  where e.id = asked.execution_id
  limit 1
) e;

-- name: execution_by_request
select id from workflow_executions where tenant_id = @tenantId and request_id = @requestId;

-- name: execution_children
select @{execution_view}
from executions_view where id = any(array(
  select c.id from (select e.id from workflow_executions e where e.parent_id = @executionId offset 0) c order by c.id offset @offset limit @limit))
order by id;

-- name: execution_tree
-- Breadth first, so parents come before their children.
with recursive tree as (
  select e.id, e.workflow_id, e.parent_id, e.parent_node, 0 as level from workflow_executions e where e.id = @executionId and e.tenant_id || '' = @tenantId
  union all
  select c.id, c.workflow_id, c.parent_id, c.parent_node, tree.level + 1
  from tree join workflow_executions c on c.parent_id = tree.id and c.tenant_id || '' = @tenantId
)
select t.id as execution_id, t.workflow_id, t.parent_id, t.parent_node, v.status
from (select * from tree order by level, id limit @limit) t join executions_view v on v.id = t.id
order by t.level, t.id;

-- name: execution_links
select system_name as system, resource_type, resource_id, external_url as url, node_id from workflow_resource_links
where execution_id = @executionId order by created_at, system_name, resource_type, resource_id offset @offset limit @limit;

-- name: queue_depth
select workflow_id, tenant_id, count(*)::int as depth, (count(*) filter (where state = 0))::int as ready from execution_queue group by workflow_id, tenant_id;

-- name: execution_busy
select q.execution_id, q.tenant_id, q.workflow_id, t.at as started_at
from execution_queue q
cross join lateral (select t.at from execution_events t where t.execution_id = q.execution_id and t.seq = 0 offset 0) t
where (q.state = 1 or (q.state = 3 and q.waits = 0 and q.due_at is null)) and not q.paused
  and t.at < now() - @longerThanMs::float8 * interval '1 millisecond'
order by t.at limit @limit::int;

-- name: store_health
-- A standby, or a database that was set read-only, answers reads and takes nothing. A message that was sent to a bus more
-- than once, and has still not arrived, says that the bus is away: a first attempt may be on its way.
with for_bus as materialized (
  select d.attempts from consumers c
  cross join lateral (
    select d.attempts from deliveries d where d.consumer_id = c.id and d.next_attempt_at is not null and d.stage in (0, 3) offset 0
  ) d
  where c.kind = any(@busKinds::text[]) and not c.is_paused limit 10000
)
select (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
  not pg_is_in_recovery() and current_setting('default_transaction_read_only') = 'off' as writable,
  (select count(*)::int from (select from commit_batches limit 10000) waiting) + (select count(*)::int from for_bus) as backlog,
  exists (select from for_bus where attempts > 1) as bus_is_away;

-- name: execution_attempts
select @{attempt}
from action_executions where execution_id = @executionId and (@nodeIds::text[] is null or node_id = any(@nodeIds))
order by started_seq, node_id, attempt;

-- name: execution_weight
-- Bytes that reading all of it would bring into memory: asked before, so that large ones are read one after the other.
select coalesce((select sum(octet_length(outputs::text)) from action_executions where execution_id = @executionId), 0)::float8
  + coalesce((select sum(octet_length(inputs::text)) from execution_events where execution_id = @executionId), 0)::float8 as bytes;

-- name: node_attempts
-- By key, the newest first.
select @{attempt}
from action_executions where execution_id = @executionId and node_id = @nodeId order by attempt desc limit @limit::int;

-- name: attempt_waits
-- Of the attempts that these transitions started, those that waited for a free place.
select node_id, attempt, waited_ms from action_executions
where execution_id = @executionId and started_seq > @afterSeq::int and started_seq <= @untilSeq::int and waited_ms is not null
order by started_seq, node_id, attempt;

-- name: nodes_last_attempts
-- A probe of the key for each node.
select distinct on (node_id) @{attempt}
from action_executions where execution_id = @executionId and node_id = any(@nodeIds::text[]) order by node_id, attempt desc;

-- name: node_logs
select @{log} from action_logs
where execution_id = @executionId and node_id = @nodeId order by id limit @limit::int;

-- name: execution_attempt_count
select count(*)::int as count from action_executions where execution_id = @executionId;

-- name: execution_attempt_page
-- @payloads: with parameters and outputs, which may be a megabyte each. The parameters of each are in the last transition before it that has any for its node: usually the very one that started it.
select @{a.attempt except outputs}, case when @payloads::boolean then a.outputs end as outputs,
  (select json_field(t.inputs, a.node_id) from execution_events t
    where @payloads::boolean and t.execution_id = a.execution_id and t.seq <= a.started_seq and json_field(t.inputs, a.node_id) is not null
    order by t.seq desc limit 1) as parameters
from (
  select * from action_executions where execution_id = @executionId order by started_seq, node_id, attempt offset @offset limit @limit
) a
order by a.started_seq, a.node_id, a.attempt;

-- name: execution_parameters
select seq, inputs from execution_events where execution_id = @executionId and inputs is not null order by seq;

-- name: execution_journal
select seq, at, facts from execution_events where execution_id = @executionId and seq > @afterSeq order by seq limit @limit;

-- name: execution_journal_from
-- A page of facts may end in the middle of a transition, so the row that holds fact @afterSeq is read again.
select seq, at, facts from execution_events
where execution_id = @executionId
  and seq >= coalesce((select max(t.seq) from execution_events t where t.execution_id = @executionId and t.seq <= @afterSeq), 0)
order by seq limit @limit;

-- name: execution_logs
select @{log} from action_logs where execution_id = @executionId order by id limit @limit;

-- name: resource_find
select execution_id, node_id, external_url as url from workflow_resource_links
where tenant_id = @tenantId and system_name = @system and resource_type = @resourceType and resource_id = @resourceId;

-- name: resource_list
-- Along the primary key.
select system_name as system, resource_type, resource_id, external_url as url, node_id, execution_id, created_at
from workflow_resource_links
where tenant_id = @tenantId and (system_name, resource_type, resource_id) > (@afterSystem::text, @afterType::text, @afterId::text)
  and (@system::text is null or system_name = @system) and (@resourceType::text is null or resource_type = @resourceType) and (@resourceId::text is null or resource_id = @resourceId)
order by system_name, resource_type, resource_id limit @limit;

-- name: resource_link_reserve
-- Before the commit, so that of two executions that find the same resource at the same moment one knows that it lost. The
-- commit inserts the same rows again, to no effect. A crash in between leaves a link of an execution that will make it anyway.
insert into workflow_resource_links (@{link})
select * from @{links: link}
on conflict do nothing;

-- name: resource_link_check
-- Resources that another execution holds (WFENG003): a new statement after the reservation, which sees who won.
select l.system_name as system, l.resource_type, l.resource_id, l.execution_id
from @{links: link} wanted (@{link})
join workflow_resource_links l on l.tenant_id = wanted.tenant_id and l.system_name = wanted.system_name
  and l.resource_type = wanted.resource_type and l.resource_id = wanted.resource_id and l.execution_id <> wanted.execution_id;


-- Lists of executions: which ids, then their rows. What drives the first differs by what is asked. Each goes along one index, newest
-- first, stops when the page is full, and looks at no more than @maxLooked rows: what comes back short says how far it looked, by the
-- statement of the same name that begins with execution_bound. Ids begin with their time, so @belowId and @fromId bound the time too.
-- Of executions and outcomes, bounds are rows, (tenant_id, status, execution_id) < (…), and the order has all columns: only the index that has them fits. With
-- `status = …` PostgreSQL took the primary key for a status that it believed frequent, and read every execution to find none.

-- fragment: execution_where
-- What a filter asks of the execution itself. A new filter is a line here and one in executionFilterFields (src/protocol).
(@workflowId::text is null or e.workflow_id = @workflowId) and (@version::int is null or greatest(e.version, 0) = @version)
  and (@format::text is null or e.format = @format)
  and (@parentExecutionId::uuid is null or e.parent_id = @parentExecutionId)
  and (@createdAfter::timestamptz is null or e.created_at >= @createdAfter)
  and (@createdBefore::timestamptz is null or e.created_at < @createdBefore)
  and (@projectId::text is null or e.project_id = @projectId)
  and (@environmentId::text is null or e.environment_id = @environmentId)
  and (@taskFailures::boolean is null or @taskFailures = (e.format = 'pipeline' and exists (
    select from execution_outcomes o where o.execution_id = e.id and o.status = 'Succeeded') and exists (
    select from (
      select distinct on (a.node_id) a.status from action_executions a where a.execution_id = e.id order by a.node_id, a.attempt desc
    ) last where last.status in ('Failed', 'TimedOut'))))

-- fragment: execution_where_status
@{use execution_where}
  and (@statuses::text[] is null or (select v.status from executions_view v where v.id = e.id) = any(@statuses))

-- fragment: page_where
-- The same of a row that has only the execution's id: a look-up for each row, so only where something is asked.
(not @isFiltered::boolean or exists (select from workflow_executions e where e.id = page.id and @{use execution_where}))

-- fragment: queue_where
-- The same of a live execution. Its workflow and version are in the queue too.
(@workflowId::text is null or page.workflow_id = @workflowId) and (@version::int is null or greatest(page.version, 0) = @version)
  and @{use page_where}

-- name: execution_page
select e.id
from (
  select e.* from workflow_executions e
  where e.tenant_id = @tenantId and e.id < @belowId::uuid and e.id >= @fromId::uuid
  order by e.id desc limit @maxLooked::int
) e
where @{use execution_where_status}
order by e.id desc limit @limit::int;

-- name: execution_bound
select id from workflow_executions
where tenant_id = @tenantId and id < @belowId::uuid and id >= @fromId::uuid order by id desc offset @maxLooked::int - 1 limit 1;

-- name: execution_page_of_workflow
-- Along execution_by_workflow. Without the equality on tenant_id, PostgreSQL sorts every row of the tenant when its
-- statistics say that the table is empty.
select e.id
from (
  select e.* from workflow_executions e
  where e.tenant_id = @tenantId and (e.tenant_id, e.workflow_id, e.id) < (@tenantId, @workflowId::text, @belowId::uuid)
    and (e.tenant_id, e.workflow_id, e.id) >= (@tenantId, @workflowId::text, @fromId::uuid)
  order by e.tenant_id desc, e.workflow_id desc, e.id desc limit @maxLooked::int
) e
where @{use execution_where_status}
order by e.id desc limit @limit::int;

-- name: execution_bound_of_workflow
select id from workflow_executions
where tenant_id = @tenantId and (tenant_id, workflow_id, id) < (@tenantId, @workflowId, @belowId::uuid) and (tenant_id, workflow_id, id) >= (@tenantId, @workflowId, @fromId::uuid)
order by tenant_id desc, workflow_id desc, id desc offset @maxLooked::int - 1 limit 1;

-- name: execution_page_of_parent
-- Along execution_by_parent: the children of one execution are few.
select e.id from workflow_executions e
where e.parent_id = @parentExecutionId::uuid and e.tenant_id = @tenantId and e.id < @belowId::uuid and e.id >= @fromId::uuid
  and @{use execution_where_status}
order by e.id desc limit least(@limit::int, @maxLooked::int);

-- name: execution_page_of_ids
select e.id from workflow_executions e
where e.id = any(@ids::uuid[]) and e.tenant_id = @tenantId and e.id < @belowId::uuid and e.id >= @fromId::uuid
  and @{use execution_where_status}
  and (@errorPattern::text is null
    or exists (select from execution_outcomes o where o.execution_id = e.id and o.error::text ilike @errorPattern))
  and (@why::text is null or execution_why(e.id) = @why)
order by e.id desc limit least(@limit::int, @maxLooked::int);

-- name: execution_page_of_trigger
-- Along firing_newest, so nearly in the order of ids; the caller sorts.
select e.id
from (
  select f.id as firing, f.execution_id from trigger_firings f
  where f.trigger_id = @triggerId::uuid and f.tenant_id = @tenantId and f.execution_id < @belowId::uuid and f.execution_id >= @fromId::uuid
  order by f.id desc limit @maxLooked::int
) f join workflow_executions e on e.id = f.execution_id
where @{use execution_where_status}
order by f.firing desc limit @limit::int;

-- name: execution_bound_of_trigger
select execution_id as id from trigger_firings
where trigger_id = @triggerId::uuid and tenant_id = @tenantId and execution_id < @belowId::uuid and execution_id >= @fromId::uuid
order by id desc offset @maxLooked::int - 1 limit 1;

-- name: execution_page_live
-- What is live is in the queue.
select page.id
from (
  select q.execution_id as id, q.workflow_id, q.version, q.epoch, q.paused from execution_queue q
  where q.tenant_id = @tenantId and q.execution_id < @belowId::uuid and q.execution_id >= @fromId::uuid
  order by q.execution_id desc limit @maxLooked::int
) page
where (@statuses::text[] is null or case when page.epoch = 0 then 'Pending' when page.paused then 'Paused' else 'Running' end = any(@statuses))
  and (@why::text is null or execution_why(page.id) = @why)
  and @{use queue_where}
order by page.id desc limit @limit::int;

-- name: execution_page_resident
-- What is live and neither ready nor parked: in the memory of a runner (they are few), or with another engine.
select page.id
from (
  (select q.execution_id as id, q.workflow_id, q.version from execution_queue q
   where q.state = 1 and q.tenant_id = @tenantId and q.execution_id < @belowId::uuid and q.execution_id >= @fromId::uuid)
  union all
  (select q.execution_id, q.workflow_id, q.version from execution_queue q
   where q.state = 3 and q.tenant_id = @tenantId and q.execution_id < @belowId::uuid and q.execution_id >= @fromId::uuid
   order by q.execution_id desc limit @maxLooked::int)
) page
where (@statuses::text[] is null or 'Running' = any(@statuses) or 'Paused' = any(@statuses))
  and execution_why(page.id) = @why::text
  and @{use queue_where}
order by page.id desc limit @limit::int;

-- name: execution_page_parked
-- What is parked, by what it waits for: each set of bits along queue_parked_for.
select found.id
from unnest(@parkedFor::smallint[]) wanted (bits)
cross join lateral (
  select page.id
  from (
    select q.execution_id as id, q.workflow_id, q.version from execution_queue q
    where q.state = 2 and q.tenant_id = @tenantId and q.parked_for = wanted.bits and q.execution_id < @belowId::uuid and q.execution_id >= @fromId::uuid
    order by q.execution_id desc limit @maxLooked::int
  ) page
  where (@statuses::text[] is null or 'Running' = any(@statuses) or 'Paused' = any(@statuses))
    and @{use queue_where}
  order by page.id desc limit @limit::int
) found
order by found.id desc limit @limit::int;

-- name: execution_bound_parked
select bound.id
from unnest(@parkedFor::smallint[]) wanted (bits)
cross join lateral (
  select q.execution_id as id from execution_queue q
  where q.state = 2 and q.tenant_id = @tenantId and q.parked_for = wanted.bits and q.execution_id < @belowId::uuid and q.execution_id >= @fromId::uuid
  order by q.execution_id desc offset @maxLooked::int - 1 limit 1
) bound
order by bound.id desc limit 1;

-- name: live_now
-- How many live executions of a tenant there are of each kind, none counted beyond @limit; and what else a dashboard shows at all times.
select
  (select count(*)::int from (select from execution_queue q where q.state = 0 and q.tenant_id = @tenantId limit @limit::int) n) as ready,
  (select count(*)::int from (select q.behaviour from execution_queue q where q.state = 0 and q.tenant_id = @tenantId limit @limit::int) n
    where n.behaviour > (select max(r.behaviour) from runners r join runner_leases l on l.runner_id = r.id
      where l.expires_at > clock_timestamp()
        and exists (select from runner_slots s where s.runner_id = r.id and s.state = 'live'))) as too_new,
  (select min(first.ready_at) from unnest('{0,1,2,3,4,5,6,7,8,9,10}'::smallint[]) lane (priority) cross join lateral (
    select q.ready_at from execution_queue q
    where q.state = 0 and q.tenant_id = @tenantId and q.priority = lane.priority order by q.ready_at limit 1) first) as oldest_ready_at,
  (select count(*)::int from (select from execution_queue q where q.state = 1 and q.tenant_id = @tenantId limit @limit::int) n) as owned,
  (select count(*)::int from (
    select distinct a.execution_id from attempt_queue a join execution_queue q on q.execution_id = a.execution_id and q.state = 2
    where a.tenant_id = @tenantId and a.lease_id is null and not exists (
      select from task_queue_workers w where w.task_queue = a.task_queue and w.tenant_id in ('', a.tenant_id)
        and w.seen_at > clock_timestamp() - interval '1 minute') limit @limit::int) n) as unserved,
  (select coalesce(json_object_agg(k.bits, k.count), '{}') from (
    select wanted.bits, n.count from (select generate_series(0, 127) union all values (128), (256)) wanted (bits) cross join lateral (
      select count(*)::int as count from (
        select from execution_queue q where q.state = 2 and q.tenant_id = @tenantId and q.parked_for = wanted.bits limit @limit::int) n) n
    where n.count > 0) k) as parked,
  (select coalesce(json_object_agg(k.why, k.count), '{}') from (
    select q.why, count(*)::int as count from (
      select case when q.paused then 'paused' when q.epoch = 0 then 'queued' when q.waits > 0 then 'waiting'
        when q.due_at is not null then 'sleeping' else 'running' end as why
      from execution_queue q where q.state = 3 and q.tenant_id = @tenantId limit @limit::int) q
    group by q.why) k) as external,
  (select count(*)::int from (select from dead_letters d where d.tenant_id = @tenantId limit 1000) n) as dead_letters,
  (select e.id from workflow_executions e where e.tenant_id = @tenantId order by e.id desc limit 1) as newest,
  exists (select from runner_slots s join runner_leases l on l.runner_id = s.runner_id
    where s.state = 'live' and l.expires_at > clock_timestamp()) as has_runner;

-- name: execution_bound_live
select execution_id as id from execution_queue
where tenant_id = @tenantId and execution_id < @belowId::uuid and execution_id >= @fromId::uuid
order by execution_id desc offset @maxLooked::int - 1 limit 1;

-- name: execution_page_ended
-- Each status along outcome_by_status, then the newest of them all.
select found.id
from unnest(@statuses::text[]) wanted (status)
cross join lateral (
  select page.id
  from (
    select o.execution_id as id, o.error from execution_outcomes o
    where (o.tenant_id, o.status, o.execution_id) < (@tenantId, wanted.status, @belowId::uuid)
      and (o.tenant_id, o.status, o.execution_id) >= (@tenantId, wanted.status, @fromId::uuid)
    order by o.tenant_id desc, o.status desc, o.execution_id desc limit @maxLooked::int
  ) page
  where (@errorPattern::text is null or page.error::text ilike @errorPattern)
    and @{use page_where}
  order by page.id desc limit @limit::int
) found
order by found.id desc limit @limit::int;

-- name: execution_bound_ended
-- Of the status whose bound comes first: below it the page does not know everything.
select bound.id
from unnest(@statuses::text[]) wanted (status)
cross join lateral (
  select o.execution_id as id from execution_outcomes o
  where (o.tenant_id, o.status, o.execution_id) < (@tenantId, wanted.status, @belowId::uuid)
      and (o.tenant_id, o.status, o.execution_id) >= (@tenantId, wanted.status, @fromId::uuid)
  order by o.tenant_id desc, o.status desc, o.execution_id desc offset @maxLooked::int - 1 limit 1
) bound
order by bound.id desc limit 1;

-- name: execution_rows
select @{v.execution_view except context_snapshot}, null::json as context_snapshot,
  case when v.ended_at is null then execution_why(v.id) end as why
from unnest(@executionIds::uuid[]) wanted (id) join executions_view v on v.id = wanted.id
order by v.id desc;

-- name: execution_brief
-- The same without payloads: fifty of them may be fifty megabytes. A pipeline succeeds whatever became of its tasks, so those that
-- failed are counted: attempts of one execution lie together.
select @{v.execution_view except trigger, spec, outputs, context_snapshot},
  case when v.format = 'pipeline' and v.status = 'Succeeded' then (
    select count(*)::int from (
      select distinct on (a.node_id) a.status from action_executions a where a.execution_id = v.id order by a.node_id, a.attempt desc
    ) last where last.status in ('Failed', 'TimedOut')) end as failed_nodes
from unnest(@executionIds::uuid[]) wanted (id) join executions_view v on v.id = wanted.id
order by v.id desc;

-- name: execution_standing
-- Of live executions: what each waits for, until when, where it is, and the last attempt that failed.
select q.execution_id, execution_why(q.execution_id) as why, q.due_at, r.name as owner, last.node_id, last.attempt, last.error,
  array(select distinct a.task_queue from attempt_queue a where a.execution_id = q.execution_id order by 1 limit 10) as task_queues
from execution_queue q
left join runners r on r.id = q.runner_id
left join lateral (
  select a.node_id, a.attempt, a.error from action_executions a
  where a.execution_id = q.execution_id and a.error is not null order by a.started_seq desc, a.attempt desc limit 1
) last on true
where q.execution_id = any(@executionIds::uuid[]);

-- name: attempt_count_of
-- How often a node was tried.
select a.execution_id, max(a.attempt)::int as attempt
from unnest(@executionIds::uuid[], @nodeIds::text[]) wanted (id, node_id) join action_executions a on a.execution_id = wanted.id and a.node_id = wanted.node_id
group by a.execution_id;

-- Quotas of tenants, what they used, and their live runs.

-- name: quota_get
select tenant_id, preset, workflows, tasks_per_workflow, concurrent_runs, executions_per_month, cron, http_steps_at_once
from tenant_quotas where tenant_id = $1;

-- name: quota_put
insert into tenant_quotas (tenant_id, preset, workflows, tasks_per_workflow, concurrent_runs, executions_per_month, cron, http_steps_at_once)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (tenant_id) do update set preset = excluded.preset, workflows = excluded.workflows,
  tasks_per_workflow = excluded.tasks_per_workflow, concurrent_runs = excluded.concurrent_runs,
  executions_per_month = excluded.executions_per_month, cron = excluded.cron, http_steps_at_once = excluded.http_steps_at_once,
  changed_at = clock_timestamp();

-- name: quota_runs_seed
-- What is live when a limit comes counts against it: as many as it takes to fill it.
insert into tenant_runs (tenant_id, execution_id)
select q.tenant_id, q.execution_id from execution_queue q
cross join lateral (select from workflow_executions e where e.id = q.execution_id and e.parent_id is null offset 0) root
where q.tenant_id = $1
limit (select concurrent_runs from tenant_quotas where tenant_id = $1)
on conflict do nothing;

-- name: quota_changes
-- A little from before as well: a change is stamped before it can be seen. A row also when nothing has changed, for what
-- goes with it.
with runners as (
  select count(*)::int as live from runner_leases l
  where l.expires_at > clock_timestamp() and exists (select from runner_slots s where s.runner_id = l.runner_id and s.state = 'live')
)
select q.tenant_id, q.preset, q.workflows, q.tasks_per_workflow, q.concurrent_runs, q.executions_per_month, q.cron, q.http_steps_at_once,
  runners.live as live_runners, clock_timestamp() as at
from runners
left join tenant_quotas q on q.changed_at > $1::timestamptz - interval '30 seconds';

-- name: quota_lock
-- First of a transaction that fills a quota: those of one tenant go one at a time, and count in a statement of its own, which
-- sees what the one before has committed.
select tenant_id, preset, workflows, tasks_per_workflow, concurrent_runs, executions_per_month, cron, http_steps_at_once
from tenant_quotas where tenant_id = $1 for no key update;

-- name: quota_runs
-- Live runs, after those that have ended are taken out; and the month.
with ended as (
  delete from tenant_runs r
  where r.tenant_id = $1 and not exists (select from execution_queue q where q.execution_id = r.execution_id)
)
select (
    select count(*)::int from tenant_runs r
    where r.tenant_id = $1 and exists (select from execution_queue q where q.execution_id = r.execution_id)
  ) as live_runs,
  coalesce((select u.executions from tenant_usage u where u.tenant_id = $1 and u.month = date_trunc('month', now() at time zone 'UTC')), 0)::float8 as executions,
  now() as at;

-- name: quota_runs_add
insert into tenant_runs (tenant_id, execution_id) select $1, unnest($2::uuid[]) on conflict do nothing;

-- name: quota_workflows
select count(*)::int as workflows from workflows where tenant_id = $1 and deleted_at is null and status <> 'Archived';

-- name: usage_add
insert into tenant_usage (tenant_id, month, executions)
select tenant_id, date_trunc('month', now() at time zone 'UTC'), executions from unnest($1::text[], $2::int[]) u (tenant_id, executions)
-- In one order, so that two runners that count for the same tenants do not wait for each other in a circle.
order by tenant_id
on conflict (tenant_id, month) do update set executions = tenant_usage.executions + excluded.executions;

-- name: tenant_usage
-- No row: nobody knows this tenant.
select (select count(*)::int from workflows w where w.tenant_id = $1 and w.deleted_at is null and w.status <> 'Archived') as workflows,
  (select count(*)::int from execution_queue q
   cross join lateral (select from workflow_executions e where e.id = q.execution_id and e.parent_id is null offset 0) root
   where q.tenant_id = $1) as live_runs,
  coalesce((select u.executions from tenant_usage u where u.tenant_id = $1 and u.month = date_trunc('month', now() at time zone 'UTC')), 0)::float8 as executions,
  now() as at
where exists (select from tenant_quotas where tenant_id = $1) or exists (select from workflows where tenant_id = $1)
  or exists (select from api_keys where tenant_id = $1);

-- name: quota_shares
-- A limit of 0 is used up.
with used as (
  select q.tenant_id, q.concurrent_runs, q.executions_per_month,
    (select count(*) from tenant_runs r
     where r.tenant_id = q.tenant_id and exists (select from execution_queue e where e.execution_id = r.execution_id)) as runs,
    coalesce((select u.executions from tenant_usage u
     where u.tenant_id = q.tenant_id and u.month = date_trunc('month', now() at time zone 'UTC')), 0) as executions
  from tenant_quotas q where q.concurrent_runs is not null or q.executions_per_month is not null
)
select tenant_id, greatest(
  case when concurrent_runs = 0 then 1 else runs::float8 / concurrent_runs end,
  case when executions_per_month = 0 then 1 else executions::float8 / executions_per_month end) as used
from used;

-- name: tenant_list
-- Index by index to the next id of each table, as often as the page is long: as many tenants as executions would be too many.
with recursive known as (
  select next_tenant($1) as id
  union all
  select next_tenant(known.id) from known where known.id is not null
),
page as (
  select id from known where id is not null and ($3::text is null or id = $3) limit $2
)
select page.id as "tenantId", (select q.preset from tenant_quotas q where q.tenant_id = page.id) as preset,
  (select count(*)::int from workflows w where w.tenant_id = page.id and w.deleted_at is null and w.status <> 'Archived') as workflows,
  (select count(*)::int from execution_queue q join workflow_executions e on e.id = q.execution_id
   where q.tenant_id = page.id and e.parent_id is null) as "concurrentRuns"
from page order by page.id;

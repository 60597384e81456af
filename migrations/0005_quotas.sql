-- Quotas of tenants (002 "Tier Limits"): what each may have, what it used in a month, and which of its runs are live.
-- A tenant without a row here, or whose row limits nothing, is not limited and never meets these tables when it starts a run.

-- up

-- null: not limited. A quota that was lifted stays as a row without limits, so that every process hears of it.
create table tenant_quotas (
  tenant_id text not null,
  preset text,
  workflows int,
  tasks_per_workflow int,
  concurrent_runs int,
  executions_per_month bigint,
  cron boolean not null default true,
  http_steps_at_once int,
  changed_at timestamptz not null default clock_timestamp(),
  constraint tenant_quotas_pkey primary key (tenant_id),
  constraint quota_preset_known check (preset in ('free', 'pro')),
  constraint quota_counts_possible check (workflows >= 0 and tasks_per_workflow >= 0 and concurrent_runs >= 0 and executions_per_month >= 0),
  constraint quota_steps_at_once_positive check (http_steps_at_once > 0)
);
create index quota_changed on tenant_quotas (changed_at);

-- HTTP steps of pipelines by UTC month, retries not counted.
create table tenant_usage (
  tenant_id text not null,
  month date not null,
  executions bigint not null,
  constraint tenant_usage_pkey primary key (tenant_id, month),
  constraint usage_month_begins check (extract(day from month) = 1)
) with (fillfactor = 50);

-- The runs of tenants that may have only so many at once. Rows of runs that have ended are taken out by the next start, so
-- the end of a run, which is the hot path, need not know of them.
create table tenant_runs (
  tenant_id text not null,
  execution_id uuid not null,
  constraint tenant_runs_pkey primary key (tenant_id, execution_id)
);

-- down

drop table tenant_runs, tenant_usage, tenant_quotas;

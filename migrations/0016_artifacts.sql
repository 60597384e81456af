-- The index of artifacts: large results of attempts, whose bytes lie in the artifact store. A row without a sha256 is still
-- being written.

-- up

create table artifacts (
  artifact_id uuid primary key,
  tenant_id text not null,
  execution_id uuid not null,
  node_id text not null,
  attempt integer not null,
  name text not null,
  kind text not null,
  content_type text not null,
  size_bytes bigint,
  sha256 text,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  constraint artifact_kind_known check (kind in ('dbt-manifest', 'dbt-run-results', 'log-bundle', 'dataset-sample', 'custom')),
  constraint artifact_complete_or_not check ((sha256 is null) = (size_bytes is null))
);
create index artifact_by_execution on artifacts (tenant_id, execution_id, artifact_id);
create index artifact_by_expiry on artifacts (expires_at) where expires_at is not null;

-- down

drop table artifacts;

-- Templates: documents that executions render (000 §3.8), and workflows to start from (000 §3.6).
-- Whatever has no tenant is for all of them; a tenant's own of the same id comes first.

-- up

create table template_sets (
  uid bigint generated always as identity,
  tenant_id text,
  id text not null,
  display_name text not null,
  team text not null,
  is_enabled boolean not null default true,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint template_sets_pkey primary key (uid),
  constraint template_set_name unique nulls not distinct (tenant_id, id)
);

create table template_definitions (
  set_uid bigint not null,
  id text not null,
  version int not null,
  display_name text not null,
  fields json not null,
  body_template text not null,
  help_markdown text,
  is_enabled boolean not null default true,
  created_at timestamptz not null default clock_timestamp(),
  constraint template_definitions_pkey primary key (set_uid, id, version),
  constraint template_set foreign key (set_uid) references template_sets (uid) on delete cascade,
  constraint template_version_positive check (version > 0)
);
-- A template by its id alone, in whatever set it is.
create index template_by_id on template_definitions (id, set_uid);

create table workflow_templates (
  uid bigint generated always as identity,
  tenant_id text,
  id text not null,
  display_name text not null,
  description text not null,
  category text not null,
  definition json not null,
  config_schema json not null,
  thumbnail_url text,
  author text,
  is_official boolean not null default false,
  tags text[] not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint workflow_templates_pkey primary key (uid),
  constraint workflow_template_name unique nulls not distinct (tenant_id, id),
  constraint workflow_template_official_is_for_all check (not is_official or tenant_id is null)
);
create index workflow_template_by_category on workflow_templates (category);
create index workflow_template_official on workflow_templates (is_official) where is_official;

create function template_sets_of(tenant text) returns setof template_sets
language sql stable parallel safe
begin atomic
  select s.* from template_sets s
  where s.tenant_id = tenant
    or (s.tenant_id is null and not exists (select from template_sets o where o.tenant_id = tenant and o.id = s.id));
end;

create function workflow_templates_of(tenant text) returns setof workflow_templates
language sql stable parallel safe
begin atomic
  select t.* from workflow_templates t
  where t.tenant_id = tenant
    or (t.tenant_id is null and not exists (select from workflow_templates o where o.tenant_id = tenant and o.id = t.id));
end;

-- down

drop function workflow_templates_of, template_sets_of;
drop table workflow_templates, template_definitions, template_sets;

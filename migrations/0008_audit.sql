-- Who changed what (004 §2.3, §16): every deed of a person or a program outside, written in the transaction that did it.
-- Rows are only ever added. Retention of executions leaves them alone.

-- up

create table audit_log (
  id bigint generated always as identity,
  tenant_id text not null,
  at timestamptz not null default clock_timestamp(),
  actor text not null,
  action text not null,
  target text not null,
  details json,
  correlation_id text,
  constraint audit_log_pkey primary key (id)
);
create index audit_newest on audit_log (tenant_id, id);

create function audit_refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception 'audit_log is append-only' using errcode = 'restrict_violation';
end;
$$;

create trigger audit_append_only before update or delete or truncate on audit_log
  for each statement execute function audit_refuse_change();

-- Tenants are whoever has something: the next one after a given id, by the indexes that there are.
create function next_tenant(after text) returns text
language sql stable parallel safe
return least(
  (select min(w.tenant_id) from workflows w where w.tenant_id > after),
  (select min(q.tenant_id) from tenant_quotas q where q.tenant_id > after),
  (select min(k.tenant_id) from api_keys k where k.tenant_id > after)
);

-- down

drop function next_tenant;
drop table audit_log;
drop function audit_refuse_change;

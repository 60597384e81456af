-- The audit log as a chain, one for each tenant: every row has the next number and a hash over its content and the hash before it. A
-- row that was changed, removed or slipped in later shows. The chain is a tenant's own, so that no tenant waits for another's (I22).

-- up

alter table audit_log
  add column seq bigint,
  add column hash bytea;

-- Text that is the same wherever it is made: times in UTC, details as they were written.
create function audit_hash(before bytea, entry audit_log) returns bytea
language sql immutable parallel safe
return sha256(before || convert_to(json_build_array(
  entry.seq, entry.tenant_id, to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), entry.actor, entry.action, entry.target,
  entry.details::text, entry.correlation_id)::text, 'UTF8'));

-- The lock is taken in the last statement of a deed's transaction, and is the tenant's own. What is read after it was committed before.
create function audit_link() returns trigger
language plpgsql
as $$
declare
  last audit_log;
begin
  perform pg_advisory_xact_lock(hashtextextended('audit ' || new.tenant_id, 7295));
  select * into last from audit_log where tenant_id = new.tenant_id order by seq desc limit 1;
  new.seq := coalesce(last.seq, 0) + 1;
  new.hash := audit_hash(coalesce(last.hash, ''), new);
  return new;
end;
$$;

alter table audit_log disable trigger audit_append_only;

update audit_log a set seq = n.seq
from (select id, row_number() over (partition by tenant_id order by id) as seq from audit_log) n where n.id = a.id;

do $$
declare
  entry audit_log;
  before bytea;
  tenant text := null;
begin
  for entry in select * from audit_log order by tenant_id, seq loop
    if tenant is distinct from entry.tenant_id then before := ''; end if;
    tenant := entry.tenant_id;
    before := audit_hash(before, entry);
    update audit_log set hash = before where id = entry.id;
  end loop;
end;
$$;

alter table audit_log enable trigger audit_append_only;

alter table audit_log
  alter column seq set not null,
  alter column hash set not null;

create unique index audit_chain on audit_log (tenant_id, seq);

create trigger audit_linked before insert on audit_log for each row execute function audit_link();

-- down

drop trigger audit_linked on audit_log;
drop function audit_link;
drop function audit_hash;
drop index audit_chain;
alter table audit_log drop column hash, drop column seq;

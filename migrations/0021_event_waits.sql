-- Waits of executions for events: an event finds those that wait for it by its tenant, type and one of its values, however many wait.

-- up
create table event_waits (
  tenant_id text not null,
  event_type text not null,
  -- `path=value`; empty: every event of the type.
  key text not null,
  execution_id uuid not null,
  node_id text not null,
  constraint event_waits_pkey primary key (execution_id, node_id, event_type, key)
);

create index event_wait_match on event_waits (tenant_id, event_type, key, execution_id, node_id);

alter table execution_inbox drop constraint inbox_kind_known;
alter table execution_inbox add constraint inbox_kind_known
  check (kind in ('webhook', 'event', 'signal', 'cancel', 'child', 'attemptResult'));

-- down

delete from execution_inbox where kind = 'event';
alter table execution_inbox drop constraint inbox_kind_known;
alter table execution_inbox add constraint inbox_kind_known
  check (kind in ('webhook', 'signal', 'cancel', 'child', 'attemptResult'));
drop table event_waits;

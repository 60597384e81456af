-- A trigger that led where its instance was already is answered, so its requestId is used up: it is remembered where those of moves are,
-- which every trigger looks into anyway. Nothing happened, so nobody is shown it.

-- up

alter table lifecycle_timeline drop constraint timeline_kind_known;
alter table lifecycle_timeline add constraint timeline_kind_known check (kind in ('transition', 'activity', 'no-op'));

create or replace view lifecycle_timeline_view as
select i.tenant_id, i.env, i.definition, i.external_ref, t.*
from lifecycle_timeline t
join lifecycle_instances_view i on i.id = t.instance_id
where t.kind <> 'no-op';

-- down

create or replace view lifecycle_timeline_view as
select i.tenant_id, i.env, i.definition, i.external_ref, t.*
from lifecycle_timeline t
join lifecycle_instances_view i on i.id = t.instance_id;

delete from lifecycle_timeline where kind = 'no-op';
alter table lifecycle_timeline drop constraint timeline_kind_known;
alter table lifecycle_timeline add constraint timeline_kind_known check (kind in ('transition', 'activity'));

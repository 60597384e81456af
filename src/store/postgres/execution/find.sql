-- What a pasted text belongs to.

-- name: find_text
-- Probes by key, exact and within the tenant (S1), one for each key: an `or`, or a second index that fits as well, would let old
-- statistics lead to a walk through all that the tenant has. $2 the text, $3 the same as a uuid, if it is one.
select 'execution' as kind, e.id::text as id, e.workflow_id as title from workflow_executions e where e.id = $3::uuid and e.tenant_id || '' = $1
union all
select 'execution', e.id::text, e.workflow_id || ' (request ' || e.request_id || ')' from workflow_executions e
where e.tenant_id = $1 and e.request_id = $2::text
union all
select 'workflow', w.id, w.display_name from workflows w
where w.tenant_id = $1 and w.id = $2 and w.deleted_at is null
union all
select 'workflow', w.id, w.display_name from workflows w
where w.uid = $3 and w.tenant_id || '' = $1 and w.id <> $2 and w.deleted_at is null
union all
select 'trigger', t.id::text, t.trigger_type || ' of ' || t.workflow_id from workflow_triggers t where t.id = $3 and t.tenant_id || '' = $1
union all
select 'instance', d.env || '/' || d.name || '/' || i.external_ref, d.name || ' in ' || i.state
from lifecycle_definitions d
cross join lateral (select * from lifecycle_instances i where i.definition_id = d.id and i.external_ref = $2 offset 0) i
where d.tenant_id = $1
union all
select 'message', m.ack_guid::text, m.source || ': ' || m.event from messages m where m.ack_guid = $3 and m.tenant_id || '' = $1
union all
select 'consumer', c.code, c.kind || ' consumer' from consumers c where c.tenant_id = $1 and c.code = $2
union all
select 'bulk', b.id::text, b.action || ': ' || b.reason from bulk_actions b where b.tenant_id = $1 and b.request_id = $2
union all
select 'bulk', b.id::text, b.action || ': ' || b.reason from bulk_actions b where b.id = $3 and b.tenant_id || '' = $1 and b.request_id <> $2
limit 50;

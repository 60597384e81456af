-- Waits of executions for events.

-- name: event_wait_add
-- Only of an execution that is live: a short one may have ended before its start was answered.
insert into event_waits (tenant_id, event_type, key, execution_id, node_id)
select w.* from unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::text[])
  w (tenant_id, event_type, key, execution_id, node_id)
where exists (select from execution_queue q where q.execution_id = w.execution_id)
on conflict do nothing;

-- name: event_wait_match
-- One probe of event_wait_match for each key of the event, however many wait for others.
select distinct execution_id, node_id from event_waits
where tenant_id = $1 and event_type = $2 and key = any($3::text[])
  and ($4::uuid is null or (execution_id, node_id) > ($4::uuid, $5::text))
order by execution_id, node_id limit $6;

-- name: event_wait_drop
-- One that was reopened meanwhile keeps its rows, however late this statement comes.
delete from event_waits w where w.execution_id = any($1::uuid[])
  and not exists (select from execution_queue q where q.execution_id = w.execution_id offset 0);

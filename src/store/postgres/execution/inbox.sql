-- Mailbox: everything that comes from outside.

-- name: inbox_send
-- The update has no state predicate: it locks the row whatever it is, so a park in flight is waited for and then undone.
-- A cancel does not wait for the backlog: its execution moves to the lane above all priorities (CANCEL_LANE).
-- A signal is audited first; one that was seen before is not sent again, also after its inbox row was consumed (I10).
-- A start that a rate limit holds back (bits 128 and 256 of parked_for) is woken by a cancel only.
with target as (
  update execution_queue q
  set state = case when q.state = 2 and (q.parked_for < 128 or $4 = 'cancel') then 0 else q.state end,
    ready_at = case when (q.state = 2 and q.parked_for < 128) or (q.state in (0, 2) and $4 = 'cancel') then clock_timestamp() else q.ready_at end,
    priority = case when q.state in (0, 2) and $4 = 'cancel' then 10 else q.priority end,
    due_at = case when q.state = 2 and (q.parked_for < 128 or $4 = 'cancel') then null else q.due_at end
  where q.execution_id = $2 and q.tenant_id = $3
  returning q.execution_id, q.runner_id, q.state = 3 as is_external
),
audited as (
  insert into execution_signals (execution_id, signal_id, tenant_id, body)
  select execution_id, $5, $3, $6::json from target where $4 = 'signal'
  on conflict do nothing
  returning execution_id
),
sent as (
  insert into execution_inbox (id, execution_id, kind, key, body)
  select $1::uuid, execution_id, $4, $5, $6::json from target where $4 <> 'signal' or exists (select from audited)
  on conflict (execution_id, kind, key) do nothing
  returning id
)
select target.runner_id, target.is_external, exists (select from sent) as fresh from target;

-- name: inbox_send_many
-- Sends a batch of callbacks or events of one tenant. It locks the rows in the order of their ids, as a commit does when it deletes them, so the
-- two cannot deadlock. Like inbox_send, the update has no state predicate. is_message tells new messages from targets.
with locked as materialized (
  select q.execution_id from execution_queue q
  where q.execution_id = any(@messages.execution_id) and q.tenant_id || '' = @tenantId
  order by q.execution_id for no key update
),
target as (
  update execution_queue q
  set state = case when q.state = 2 and q.parked_for < 128 then 0 else q.state end,
    ready_at = case when q.state = 2 and q.parked_for < 128 then clock_timestamp() else q.ready_at end,
    due_at = case when q.state = 2 and q.parked_for < 128 then null else q.due_at end
  where q.execution_id = any(array(select execution_id from locked))
  returning q.execution_id, q.runner_id, q.state = 3 as is_external
),
sent as (
  insert into execution_inbox (id, execution_id, kind, key, body)
  select m.id, m.execution_id, m.kind, m.key, m.body from @{messages: message} m (id, execution_id, kind, key, body)
  where m.execution_id = any(array(select execution_id from target))
  on conflict (execution_id, kind, key) do nothing
  returning id
)
select execution_id as id, runner_id, is_external, false as is_message from target
union all select id, null, null, true from sent;

-- name: signal_known
select exists (select from execution_signals where execution_id = $1 and signal_id = $2 and tenant_id = $3) as known;

-- name: signal_accepted
-- Of an execution that has ended, but for repairs, which reopen (queue_wake_mail).
select s.signal_id, s.body, s.at from execution_signals s
where s.execution_id = $1 and s.signal_id !~ '@{constant reopening_key}'
  and exists (select from execution_outcomes o where o.execution_id = s.execution_id)
order by s.at, s.signal_id;

-- name: signal_facts
-- Which facts tell of signals is seen by their text: the operators of json refuse a value with \u0000 anywhere in it. Few
-- executions have signals, so the journal is looked through for few.
select fact from execution_events e cross join lateral json_array_elements(e.facts) fact
where e.execution_id = $1 and e.facts::text like '%"SignalApplied"%' and fact::text ~ '^\s*\{\s*"type"\s*:\s*"SignalApplied"';

-- name: inbox_read
select m.execution_id, m.id, m.kind, m.key, m.body
from unnest($1::uuid[]) wanted (id)
cross join lateral (select * from execution_inbox m where m.execution_id = wanted.id order by m.at, m.id) m;

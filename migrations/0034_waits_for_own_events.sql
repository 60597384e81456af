-- Executions may wait for events of other executions. The publisher asks in every round which tenants do: few rows, so a small index.

-- up

create index event_wait_own on event_waits (tenant_id, event_type) where event_type ~ '^(Run|Step|Alert)[A-Z]';

-- down

drop index event_wait_own;

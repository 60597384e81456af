-- The trace that an execution belongs to (W3C trace context), so that whoever runs it next, after a restart or on another
-- machine, goes on with it.

-- up

alter table workflow_executions add column traceparent text;
-- Read nowhere but by a runner: its form is checked at the door.
alter table workflow_executions add constraint execution_traceparent_length check (length(traceparent) = 55);

-- down

alter table workflow_executions drop column traceparent;

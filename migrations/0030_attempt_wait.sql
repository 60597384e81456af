-- How long an attempt waited for a free place before it ran: the timeline tells it apart from the work. Null: less than a
-- millisecond, or not known.

-- up
alter table action_executions add column waited_ms int;

-- down
alter table action_executions drop column waited_ms;

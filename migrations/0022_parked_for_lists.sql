-- The index of what is due and the index of lists by what parked executions wait for serve one purpose each. With statistics of a tiny
-- queue, the look for what is due used the wrong one, and read all that is parked: 62,000 pages instead of 5.

-- up
drop index queue_due;
create index queue_due on execution_queue (due_at) where state = 2 and due_at is not null;
drop index queue_parked_for;
create index queue_parked_for on execution_queue (tenant_id, parked_for, execution_id) where state = 2 and parked_for is not null;

-- down

drop index queue_due;
create index queue_due on execution_queue (due_at) where state = 2;
drop index queue_parked_for;
create index queue_parked_for on execution_queue (tenant_id, parked_for, execution_id) where state = 2;

-- What was sent about a transition, so that a page shows who has acknowledged what without a search. Written with the transition;
-- entries that are older have none.

-- up
alter table lifecycle_timeline add column messages uuid[];

-- down
alter table lifecycle_timeline drop column messages;

-- What the consumer of a hook says about its result becomes the payload of the event that the hook triggers.

-- up
alter table lifecycle_reactions add column payload json;

-- down
alter table lifecycle_reactions drop column payload;

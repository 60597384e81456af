-- Which workflows, consumers, connections and task queues a key reaches; null: all of its tenant.

-- up
alter table api_keys add column limits json;

-- down
alter table api_keys drop column limits;

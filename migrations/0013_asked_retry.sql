-- For when a consumer asked to be sent a delivery again, so that the same failure reported once more is known for what it is, also
-- when that time has passed and the delivery is on its way again.

-- up

alter table deliveries add column retry_at timestamptz;

-- down

alter table deliveries drop column retry_at;

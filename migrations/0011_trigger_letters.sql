-- A payload that was accepted and did not suit its workflow (000 §11.2): it has no execution, but a trigger to fire again.

-- up

alter table dead_letters alter column execution_id drop not null;
alter table dead_letters add column trigger_id uuid;
alter table dead_letters add column request_id text;
alter table dead_letters add constraint dead_letter_of_one check ((execution_id is null) = (trigger_id is not null));
create unique index dead_letter_once_a_firing on dead_letters (trigger_id, request_id) where trigger_id is not null;

-- down

delete from dead_letters where execution_id is null;
drop index dead_letter_once_a_firing;
alter table dead_letters drop constraint dead_letter_of_one;
alter table dead_letters drop column request_id;
alter table dead_letters drop column trigger_id;
alter table dead_letters alter column execution_id set not null;

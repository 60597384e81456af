-- Whose word a deprecation notice is (000 §7.6): the code's, which each start brings up to date, or an operator's, which stays.

-- up

alter table action_catalog add column notice_is_operators boolean not null default false;

-- down

alter table action_catalog drop column notice_is_operators;

-- A row of the outbox is written once and deleted soon: compressing its ids and laying them in a table beside it cost a twentieth of
-- PostgreSQL's time under load. Its dead rows are larger in return, so it is vacuumed earlier.

-- up

alter table commit_batches set (toast_tuple_target = 8160, autovacuum_vacuum_threshold = 2000);

-- down

alter table commit_batches reset (toast_tuple_target);
alter table commit_batches set (autovacuum_vacuum_threshold = 20000);

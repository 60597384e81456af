-- Attempts while they run. Their log lines, for people who follow an execution: the lines of an attempt are kept with its result, and these
-- are only for the time before that, so a crash of the database may lose them. And attempts that wait for the limit of heavy steps.

-- up

create unlogged table live_lines (
  execution_id uuid not null,
  node_id text not null,
  attempt smallint not null,
  -- Its place in the log of the attempt.
  line int not null,
  -- Grows with every line that is written: tells followers that there is news.
  id bigint generated always as identity not null,
  at timestamptz not null,
  level text not null,
  message text not null,
  data json,
  constraint live_lines_pkey primary key (execution_id, node_id, attempt, line)
) with (fillfactor = 50);

-- The limit of heavy steps has a place for the attempt from then on; null: it was not asked, or had one at once.
alter table attempt_queue add column held_until timestamptz;

-- down

alter table attempt_queue drop column held_until;
drop table live_lines;

-- What a runner says about itself, so that people know which process it is and how busy it is; and whether somebody asked it to drain.

-- up
alter table runners add column host text, add column version text, add column places integer, add column busy integer,
  add column drain_asked_at timestamptz;

-- down
alter table runners drop column host, drop column version, drop column places, drop column busy, drop column drain_asked_at;

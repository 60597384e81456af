-- Log lines of attempts that still run.

-- name: live_line_put
-- An attempt that begins again after a crash writes over the lines of its first run.
with written as (
  insert into live_lines (execution_id, node_id, attempt, line, at, level, message, data)
  select * from unnest($1::uuid[], $2::text[], $3::smallint[], $4::int[], $5::timestamptz[], $6::text[], $7::text[], $8::json[])
  on conflict (execution_id, node_id, attempt, line) do update
  set id = default, at = excluded.at, level = excluded.level, message = excluded.message, data = excluded.data
  returning execution_id, id
)
select execution_id, max(id)::float8 as id from written group by execution_id;

-- name: live_line_drop
delete from live_lines l using unnest($1::uuid[], $2::text[], $3::smallint[]) ended (execution_id, node_id, attempt)
where l.execution_id = ended.execution_id and l.node_id = ended.node_id and l.attempt = ended.attempt;

-- name: live_line_list
-- $2: of one node; null: of all.
select execution_id, node_id, attempt, line, at, level, message, data from live_lines
where execution_id = $1::uuid and ($2::text is null or node_id = $2) order by at, node_id, attempt, line limit 10000;

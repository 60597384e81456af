-- The audit log: rows are only added (the database refuses everything else).

-- name: audit_add
insert into audit_log (tenant_id, actor, action, target, details, correlation_id) values ($1, $2, $3, $4, $5::json, $6);

-- name: audit_list
select id, at, actor, action, target, details, correlation_id as "correlationId" from audit_log
where tenant_id = $1 and ($2::bigint is null or id < $2)
  and ($4::text is null or actor = $4) and ($5::text is null or action = $5 or starts_with(action, $5 || '.'))
  and ($6::text is null or target = $6) and ($7::timestamptz is null or at >= $7) and ($8::timestamptz is null or at < $8)
order by id desc limit $3;

-- The index of artifacts. The bytes lie in the artifact store.

-- name: artifact_begin
insert into artifacts (artifact_id, tenant_id, execution_id, node_id, attempt, name, kind, content_type, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9 * interval '1 millisecond');

-- name: artifact_complete
update artifacts
set size_bytes = $2, sha256 = $3, expires_at = now() + $4 * interval '1 millisecond'
where artifact_id = $1
returning artifact_id;

-- name: artifact_get
select * from artifacts where artifact_id = $2 and tenant_id = $1 and sha256 is not null and (expires_at is null or expires_at > now());

-- name: artifact_list
select * from artifacts
where tenant_id = $1 and execution_id = $2 and sha256 is not null and ($3::uuid is null or artifact_id > $3)
order by artifact_id
limit $4;

-- An artifact without an expiry lives as long as its execution.
-- name: artifact_expired
(select artifact_id, tenant_id from artifacts where expires_at < now() order by expires_at limit $1)
union all
(select a.artifact_id, a.tenant_id from artifacts a
  where a.expires_at is null
    and not exists (select from workflow_executions e where e.id = a.execution_id offset 0)
  limit $1);

-- name: artifact_forget
delete from artifacts where artifact_id = any($1::uuid[]);

-- The audit log: rows are only added (the database refuses everything else).

-- name: audit_add
insert into audit_log (tenant_id, actor, action, target, details, correlation_id) values ($1, $2, $3, $4, $5::json, $6);

-- name: audit_list
select id, at, actor, action, target, details, correlation_id as "correlationId" from audit_log
where tenant_id in ($1, '*') and ($2::bigint is null or id < $2)
  and ($4::text is null or actor = $4) and ($5::text is null or action = $5 or starts_with(action, $5 || '.'))
  and ($6::text is null or target = $6) and ($7::timestamptz is null or at >= $7) and ($8::timestamptz is null or at < $8)
order by id desc limit $3;

-- name: audit_check
-- $2, $3: the previous link. Returns the first row that does not follow, and the last one that does.
with links as (
  select a.seq, a.hash, coalesce(lag(a.seq) over chain, $2::bigint) + 1 as expected_seq,
    audit_hash(coalesce(lag(a.hash) over chain, $3::bytea), a) as expected_hash
  from (select * from audit_log where tenant_id = $1 and seq > $2::bigint order by seq limit $4::int) a
  window chain as (order by a.seq)
)
select seq::float8 as seq, encode(hash, 'hex') as hash, expected_seq::float8 as "expectedSeq",
  seq = expected_seq and hash = expected_hash as whole
from (
  (select * from links where seq <> expected_seq or hash <> expected_hash order by seq limit 1)
  union
  (select * from links where seq < coalesce((select min(b.seq) from links b where b.seq <> b.expected_seq or b.hash <> b.expected_hash), 9223372036854775807)
   order by seq desc limit 1)) ends
order by seq;

-- name: audit_tenants
select distinct tenant_id as "tenantId" from audit_log order by 1;

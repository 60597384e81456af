// Records who owned an execution, and when. The database itself writes the record in the transaction that changes the owner, so
// it says what was durable. The row in the queue only knows the last owner, and the end of an execution deletes the row.

import type { Ask } from './evidence.ts';

/** One change of an execution's row in the queue. Without a runner: the execution was given back, parked, or has ended. */
interface OwnerChange {
  readonly at: string;
  readonly state: number | null;
  readonly runner: string | null;
  readonly epoch: number;
}

export async function keepClaimLog(ask: Ask): Promise<void> {
  await ask(
    `create table claim_log (execution_id uuid, at timestamptz, state int, runner_id bigint, epoch int);
     create index on claim_log (execution_id);
     create function log_claim() returns trigger language plpgsql as $$
       begin
         insert into claim_log values (coalesce(new.execution_id, old.execution_id), clock_timestamp(), new.state,
           new.runner_id, coalesce(new.epoch, old.epoch));
         return null;
       end $$;
     create trigger log_claim after insert or update of state, runner_id, epoch or delete on execution_queue
       for each row execute function log_claim()`,
  );
}

/** Whether the execution was claimed by any runner, or by the named one. */
export async function wasClaimed(ask: Ask, executionId: string, runner: string | null): Promise<boolean> {
  const [row] = await ask<{ found: boolean }>(
    `select exists (select from claim_log c join runners r on r.id = c.runner_id
       where c.execution_id = $1 and r.name = coalesce($2, r.name)) as found`,
    [executionId, runner],
  );
  return row!.found;
}

export function ownerChanges(ask: Ask, executionId: string): Promise<OwnerChange[]> {
  return ask<OwnerChange & Record<string, unknown>>(
    `select to_char(c.at, 'HH24:MI:SS.MS') as at, c.state, r.name as runner, c.epoch
     from claim_log c left join runners r on r.id = c.runner_id where c.execution_id = $1 order by c.at`,
    [executionId],
  );
}

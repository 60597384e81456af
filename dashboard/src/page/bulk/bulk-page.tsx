// How far an action on many executions is.

import { useParams } from '@tanstack/react-router';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Page, Pairs, Panel } from '../../component/page.tsx';
import { Answered } from '../../component/state.tsx';
import { Time } from '../../component/time.tsx';
import { stopBulk, useBulk } from '../../data/bulk.ts';
import { clipped, countText } from '../../model/text.ts';

export function BulkPage() {
  const { bulkId } = useParams({ strict: false }) as { bulkId: string };
  const bulk = useBulk(bulkId);
  const command = useCommand(['bulk', bulkId]);
  return (
    <Answered query={bulk} what="the bulk action">
      {(data) => {
        const past = data.done + data.failed + data.skipped;
        return (
          <Page
            title={`Bulk ${data.action}`}
            detail={
              <>
                by {clipped(data.by, 60)}, <Time at={data.createdAt} />: {clipped(data.reason, 200)}
              </>
            }
            actions={
              <Button
                reason={data.state === 'running' ? null : `It is ${data.state}`}
                onClick={() => void command('Stop', () => stopBulk(bulkId))}
              >
                Stop
              </Button>
            }
          >
            <Panel>
              <div className="flex flex-col gap-3 p-4">
                <progress
                  className="h-2 w-full accent-accent-solid"
                  max={Math.max(1, data.count)}
                  value={past}
                  aria-label="Progress"
                />
                <p role="status">
                  {data.state === 'running' ? 'Running' : data.state === 'done' ? 'Done' : 'Stopped'}: {countText(past)}{' '}
                  of {countText(data.count, data.isCapped)}
                </p>
                <Pairs
                  pairs={[
                    ['Done', countText(data.done)],
                    ['Failed', countText(data.failed)],
                    ['Skipped', `${countText(data.skipped)}, as the action did not apply`],
                    ['Last error', data.lastError === undefined ? undefined : clipped(data.lastError, 300)],
                    ['Ended', data.endedAt === undefined ? undefined : <Time key="e" at={data.endedAt} />],
                  ]}
                />
              </div>
            </Panel>
          </Page>
        );
      }}
    </Answered>
  );
}

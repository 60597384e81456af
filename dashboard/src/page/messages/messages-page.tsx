// Messages: what was sent to whom, what waits, what is dead; and the consumers they go to.

import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from '../../component/button.tsx';
import { Page, Panel } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { STAGES, type Stage, useConsumers } from '../../data/deliveries.ts';
import { clipped, countText } from '../../model/text.ts';
import { DeliveryTable, Notices } from './delivery-table.tsx';

export function MessagesPage() {
  const search = useSearch({ strict: false }) as { consumer?: string; stage?: string };
  const stage = STAGES.find((each) => each === search.stage) ?? 'any';
  return (
    <Page
      title="Messages"
      detail="Each message goes to every consumer that subscribed to it, until it is acknowledged."
    >
      <Consumers />
      <StageTabs stage={stage} consumer={search.consumer} />
      <DeliveryTable stage={stage} consumer={search.consumer} />
      <Notices />
    </Page>
  );
}

function Consumers() {
  const consumers = useConsumers();
  return (
    <Answered query={consumers} what="the consumers" rows={3}>
      {(list) =>
        list.length === 0 ? (
          <Panel title="Consumers">
            <Empty title="No consumers">
              A consumer receives transitions, hooks and the events of executions: by webhook, by asking, or over NATS.
            </Empty>
          </Panel>
        ) : (
          <Table
            label="Consumers"
            columns={['Consumer', 'Kind', 'State', 'Not acknowledged', 'Failed', 'Dead', 'Oldest']}
          >
            {list.map((consumer) => {
              const { pending = 0, failed = 0, dead = 0, oldestAt } = consumer.backlog ?? {};
              return (
                <Row key={consumer.code}>
                  <Cell isMain>
                    <Link
                      to="/consumers/$code"
                      params={{ code: consumer.code }}
                      className="font-medium hover:text-accent"
                    >
                      {clipped(consumer.code, 60)}
                    </Link>
                  </Cell>
                  <Cell label="Kind">{consumer.kind}</Cell>
                  <Cell label="State">
                    {consumer.isPaused ? <Status status="Paused" /> : <Status status="Active" />}
                  </Cell>
                  <Cell label="Not acknowledged">{countOf(consumer.code, undefined, pending)}</Cell>
                  <Cell label="Failed">{countOf(consumer.code, 'Failed', failed)}</Cell>
                  <Cell label="Dead">{countOf(consumer.code, 'Dead', dead)}</Cell>
                  <Cell label="Oldest">
                    <Time at={oldestAt} />
                  </Cell>
                </Row>
              );
            })}
          </Table>
        )
      }
    </Answered>
  );
}

const COUNTED = 10_000;

/** A number that opens its list. */
const countOf = (consumer: string, stage: Stage | undefined, count: number) =>
  count === 0 ? (
    <span className="text-faint">0</span>
  ) : (
    <Link
      to="/messages"
      search={{ consumer, stage }}
      className="link tabular underline decoration-dotted underline-offset-4"
    >
      {countText(count, count >= COUNTED)}
    </Link>
  );

function StageTabs({ stage, consumer }: { readonly stage: Stage; readonly consumer: string | undefined }) {
  const navigate = useNavigate();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <div
        role="group"
        aria-label="Stage"
        className="flex max-w-full gap-0.5 overflow-x-auto rounded-lg bg-sunken p-0.5"
      >
        {(['any', ...STAGES] as const).map((each) => (
          <Link
            key={each}
            to="."
            search={(before: Record<string, unknown>) => ({ ...before, stage: each === 'any' ? undefined : each })}
            data-current={each === stage}
            activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}
            className="flex h-7 items-center rounded-md px-2.5 text-xs font-medium text-muted hover:text-text data-[current=true]:bg-panel data-[current=true]:text-text data-[current=true]:shadow-sm"
          >
            {each === 'any' ? 'All' : each}
          </Link>
        ))}
      </div>
      {consumer !== undefined && (
        <Button
          small
          onClick={() =>
            void navigate({
              to: '.',
              search: (before: Record<string, unknown>) => ({ ...before, consumer: undefined }),
            })
          }
        >
          Only {clipped(consumer, 40)} ×
        </Button>
      )}
    </div>
  );
}

// Messages: what was sent to whom, what waits, what is dead; and the consumers they go to.

import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Page, Panel } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Due, Time } from '../../component/time.tsx';
import { requeueMessage, STAGES, type Stage, useConsumers, useDeliveries, useNotices } from '../../data/deliveries.ts';
import { useRefusal } from '../../data/session-query.ts';
import { clipped, countText } from '../../model/text.ts';

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
      <Deliveries stage={stage} consumer={search.consumer} />
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
          <Table label="Consumers" columns={['Consumer', 'Kind', 'State', 'Pending', 'Failed', 'Dead', 'Oldest']}>
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
                  <Cell label="Pending">{countOf(consumer.code, 'Pending', pending)}</Cell>
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
const countOf = (consumer: string, stage: string, count: number) =>
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

function Deliveries({ stage, consumer }: { readonly stage: Stage; readonly consumer: string | undefined }) {
  const list = useDeliveries(stage, consumer);
  const command = useCommand(['messages']);
  const refused = useRefusal('admin');
  return (
    <Answered query={list} what="the messages">
      {({ pages }) => {
        const rows = pages.flatMap(({ data }) => data);
        if (rows.length === 0) {
          return <Empty title={stage === 'any' ? 'Nothing was sent yet' : `No message is ${stage.toLowerCase()}`} />;
        }
        return (
          <>
            <Table label="Messages" columns={['Message', 'To', 'Stage', 'Sent', 'Attempts', 'Next try', '']}>
              {rows.map((row) => (
                <Row key={`${row.ackGuid} ${row.consumer}`}>
                  <Cell isMain>
                    <Link
                      to="/messages/$ackGuid"
                      params={{ ackGuid: row.ackGuid }}
                      className="hover:text-accent"
                      title={row.ackGuid}
                    >
                      <b className="font-medium">{clipped(row.event, 60)}</b> of {clipped(row.source, 60)}
                    </Link>
                    <span className="block text-xs text-muted">
                      {row.kind}
                      {row.message !== undefined && `, ${clipped(row.message, 120)}`}
                    </span>
                  </Cell>
                  <Cell label="To">
                    <Link to="/consumers/$code" params={{ code: row.consumer }} className="hover:text-accent">
                      {clipped(row.consumer, 60)}
                    </Link>
                  </Cell>
                  <Cell>
                    <Status status={row.stage} />
                  </Cell>
                  <Cell label="Sent">
                    <Time at={row.createdAt} />
                  </Cell>
                  <Cell label="Attempts">{row.attempts}</Cell>
                  <Cell label="Next try">
                    <Due at={row.nextAttemptAt} />
                  </Cell>
                  <Cell>
                    {(row.stage === 'Dead' || row.stage === 'Failed') && (
                      <Button
                        small
                        reason={refused}
                        onClick={() => void command('Send again', () => requeueMessage(row.ackGuid, row.consumer))}
                      >
                        Send again
                      </Button>
                    )}
                  </Cell>
                </Row>
              ))}
            </Table>
            {list.hasNextPage && <Button onClick={() => void list.fetchNextPage()}>More</Button>}
          </>
        );
      }}
    </Answered>
  );
}

function Notices() {
  const notices = useNotices();
  if ((notices.data?.length ?? 0) === 0) return null;
  return (
    <Panel title="Notices">
      <ul tabIndex={0} aria-label="Notices" className="max-h-64 divide-y overflow-y-auto">
        {notices.data!.toReversed().map(({ id, at, kind, message }) => (
          <li key={id} className="flex gap-3 px-4 py-1.5 text-xs">
            <span className="text-muted">
              <Time at={at} />
            </span>
            <span className="font-medium">{kind}</span>
            <span className="min-w-0 wrap-anywhere text-muted">{clipped(message, 300)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

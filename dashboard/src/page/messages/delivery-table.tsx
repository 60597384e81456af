// Deliveries in a table, newest first: what was sent to whom, how it stands, and a button for what is dead. And the notices: what
// went wrong while delivering, in words.

import { Link } from '@tanstack/react-router';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Panel } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Due, Time } from '../../component/time.tsx';
import { type Delivery, requeueMessage, type Stage, useDeliveries, useNotices } from '../../data/deliveries.ts';
import { useRefusal } from '../../data/session-query.ts';
import { clipped, shortId } from '../../model/text.ts';

interface DeliveryTableProps {
  readonly stage: Stage;
  readonly consumer: string | undefined;
}

export function DeliveryTable({ stage, consumer }: DeliveryTableProps) {
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
            <Table label="Messages" columns={['Message', 'About', 'To', 'Stage', 'Sent', 'Attempts', 'Next try', '']}>
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
                  <Cell label="About">
                    <Subject row={row} />
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

/** The instance or the execution that the message is about. */
function Subject({ row: { env, externalRef, source, subjectId } }: { readonly row: Delivery }) {
  if (env !== undefined && externalRef !== undefined) {
    return (
      <Link
        to="/lifecycles/$env/$name/$externalRef"
        params={{ env, name: source, externalRef }}
        search={{ tab: 'messages' }}
        className="link"
      >
        {clipped(externalRef, 40)}
      </Link>
    );
  }
  return (
    <Link to="/executions/$executionId" params={{ executionId: subjectId }} className="link font-mono">
      {shortId(subjectId)}
    </Link>
  );
}

/** Of one consumer, or of all. */
export function Notices({ consumer }: { readonly consumer?: string }) {
  const { data = [] } = useNotices();
  const notices = data.filter(
    ({ details }) => consumer === undefined || (details as { consumer?: string } | null)?.consumer === consumer,
  );
  if (notices.length === 0) return null;
  return (
    <Panel title="Notices">
      <ul tabIndex={0} aria-label="Notices" className="max-h-64 divide-y overflow-y-auto">
        {notices.toReversed().map(({ id, at, kind, message }) => (
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

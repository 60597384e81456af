// Who has acknowledged what: a row for each message, a column for each consumer. What is dead or failed can be sent again.

import { Link } from '@tanstack/react-router';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Answered, Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Due, Time } from '../../component/time.tsx';
import { type Delivery, requeueMessage, useDeliveriesOf } from '../../data/deliveries.ts';
import { useTimeline } from '../../data/lifecycles.ts';
import { useRefusal } from '../../data/session-query.ts';
import { clipped } from '../../model/text.ts';

interface AckMatrixProps {
  readonly env: string;
  readonly name: string;
  readonly externalRef: string;
}

export function AckMatrix({ env, name, externalRef }: AckMatrixProps) {
  const timeline = useTimeline(env, name, externalRef);
  return (
    <Answered query={timeline} what="the messages">
      {(entries) => <Messages ackGuids={entries.flatMap(({ messages = [] }) => messages)} />}
    </Answered>
  );
}

function Messages({ ackGuids }: { readonly ackGuids: readonly string[] }) {
  const deliveries = useDeliveriesOf(ackGuids);
  return (
    <Answered query={deliveries} what="the messages">
      {(list) => {
        if (list.length === 0) {
          return (
            <Empty title="No messages">
              Nobody is told about this instance.{' '}
              <Link to="/messages" className="link">
                Consumers
              </Link>{' '}
              subscribe to a lifecycle, or its policies name them.
            </Empty>
          );
        }
        const messages = [...Map.groupBy(list, ({ ackGuid }) => ackGuid).values()];
        const consumers = [...new Set(list.map(({ consumer }) => consumer))].toSorted();
        return (
          <div className="panel overflow-x-auto">
            <table className="w-full" aria-label="Acknowledgements">
              <thead>
                <tr className="h-9 border-b bg-sunken/60 text-left text-xs text-muted">
                  <th scope="col" className="px-4 font-medium">
                    Message
                  </th>
                  {consumers.map((consumer) => (
                    <th key={consumer} scope="col" className="px-3 font-medium">
                      <Link to="/consumers/$code" params={{ code: consumer }} className="hover:text-accent">
                        {clipped(consumer, 40)}
                      </Link>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody className="divide-y">
                {messages.map((each) => (
                  <MessageRow key={each[0]!.ackGuid} deliveries={each} consumers={consumers} />
                ))}
              </tbody>
            </table>
          </div>
        );
      }}
    </Answered>
  );
}

interface MessageRowProps {
  /** Of one message; there is at least one. */
  readonly deliveries: readonly Delivery[];
  readonly consumers: readonly string[];
}

function MessageRow({ deliveries, consumers }: MessageRowProps) {
  const { ackGuid, kind, event, createdAt } = deliveries[0]!;
  return (
    <tr>
      <th scope="row" className="px-4 py-2 text-left font-normal whitespace-nowrap">
        <Link to="/messages/$ackGuid" params={{ ackGuid }} className="hover:text-accent">
          {kind} <b className="font-medium">{clipped(event, 60)}</b>
        </Link>
        <span className="block text-xs text-muted">
          <Time at={createdAt} />
        </span>
      </th>
      {consumers.map((consumer) => {
        const delivery = deliveries.find((each) => each.consumer === consumer);
        return (
          <td key={consumer} className="px-3 py-2 whitespace-nowrap">
            {delivery === undefined ? <span className="text-faint">–</span> : <Acknowledgement delivery={delivery} />}
          </td>
        );
      })}
    </tr>
  );
}

function Acknowledgement({ delivery }: { readonly delivery: Delivery }) {
  const command = useCommand(['messages'], ['message']);
  const refused = useRefusal('admin');
  const { ackGuid, consumer, stage, reminders, endedAt, deliveredAt, nextAttemptAt, message } = delivery;
  return (
    <span className="inline-flex items-center gap-2" title={message === undefined ? undefined : clipped(message, 300)}>
      <Status status={stage} />
      <span className="text-xs text-muted">
        {stage === 'Pending' || stage === 'Failed' ? (
          <>
            next try <Due at={nextAttemptAt} />
          </>
        ) : (
          <Time at={endedAt ?? deliveredAt} />
        )}
        {reminders > 0 && `, reminded ${reminders}×`}
      </span>
      {(stage === 'Dead' || stage === 'Failed') && (
        <Button
          small
          reason={refused}
          onClick={() => void command('Send again', () => requeueMessage(ackGuid, consumer))}
        >
          Send again
        </Button>
      )}
    </span>
  );
}

// One message: what was sent, and how it stands with each consumer.

import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { JsonTree } from '../../component/json-tree.tsx';
import { Page, Panel } from '../../component/page.tsx';
import { Answered } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Due, Time } from '../../component/time.tsx';
import { discardMessage, requeueMessage, useMessage } from '../../data/deliveries.ts';
import { useRefusal } from '../../data/session-query.ts';
import { clipped } from '../../model/text.ts';

export function MessagePage() {
  const { ackGuid } = useParams({ strict: false }) as { ackGuid: string };
  const message = useMessage(ackGuid);
  const navigate = useNavigate();
  const command = useCommand(['message', ackGuid], ['messages']);
  const refused = useRefusal('admin');
  const discard = async () => {
    const done = await command('Discard', async () => {
      await discardMessage(ackGuid);
      return true;
    });
    if (done === true) await navigate({ to: '/messages' });
  };
  return (
    <Answered query={message} what="the message">
      {({ kind, event, source, createdAt, deliveries, message: body }) => (
        <Page
          title={`${kind} ${clipped(event, 60)}`}
          detail={
            <>
              of {clipped(source, 80)}, <Time at={createdAt} />
            </>
          }
          actions={
            <>
              <Button reason={refused} onClick={() => void command('Send again', () => requeueMessage(ackGuid))}>
                Send again
              </Button>
              <Button reason={refused} onClick={() => void discard()}>
                Discard
              </Button>
            </>
          }
        >
          <Table label="Deliveries" columns={['Consumer', 'Stage', 'Attempts', 'Reminders', 'Next try', 'Said']}>
            {deliveries.map((delivery) => (
              <Row key={delivery.consumer}>
                <Cell isMain>
                  <Link to="/consumers/$code" params={{ code: delivery.consumer }} className="hover:text-accent">
                    {clipped(delivery.consumer, 60)}
                  </Link>
                </Cell>
                <Cell>
                  <Status status={delivery.stage} />
                </Cell>
                <Cell label="Attempts">{delivery.attempts}</Cell>
                <Cell label="Reminders">{delivery.reminders}</Cell>
                <Cell label="Next try">
                  <Due at={delivery.nextAttemptAt} />
                </Cell>
                <Cell>{clipped(delivery.message ?? '', 200)}</Cell>
              </Row>
            ))}
          </Table>
          <Panel title="Body">
            <div className="p-4">
              <JsonTree value={body} label="the message" />
            </div>
          </Panel>
        </Page>
      )}
    </Answered>
  );
}

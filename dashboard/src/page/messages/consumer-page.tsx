// One consumer: what it wants, what it has not acknowledged; pause it, give it a new secret, send the past again.

import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Dialog } from '../../component/dialog.tsx';
import { JsonTree } from '../../component/json-tree.tsx';
import { Page, Pairs, Panel } from '../../component/page.tsx';
import { SecretOnce } from '../../component/secret.tsx';
import { Answered } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Time } from '../../component/time.tsx';
import { pauseConsumer, replayConsumer, rotateConsumerSecret, useConsumer } from '../../data/deliveries.ts';
import { useRefusal } from '../../data/session-query.ts';
import { clipped } from '../../model/text.ts';
import { DeliveryTable, Notices } from './delivery-table.tsx';

export function ConsumerPage() {
  const { code } = useParams({ strict: false }) as { code: string };
  const consumer = useConsumer(code);
  return (
    <Answered query={consumer} what="the consumer">
      {(data) => {
        const { pending = 0, failed = 0, dead = 0, oldestAt, lastError } = data.backlog ?? {};
        return (
          <Page
            title={code}
            head={
              <>
                {clipped(code, 80)} <Status status={data.isPaused ? 'Paused' : 'Active'} />
              </>
            }
            actions={<ConsumerActions code={code} isPaused={data.isPaused} kind={data.kind} />}
          >
            <div className="grid items-start gap-4 lg:grid-cols-2">
              <Panel title="The consumer">
                <div className="p-4">
                  <Pairs
                    pairs={[
                      ['Kind', data.kind],
                      [
                        'Address',
                        data.url === undefined ? undefined : (
                          <code key="u" className="font-mono text-xs">
                            {clipped(data.url, 300)}
                          </code>
                        ),
                      ],
                      ['Order', data.ordering],
                      ['At once', data.concurrency],
                      ['Valid secrets', data.validSecrets],
                      ['Changed', <Time key="t" at={data.updatedAt} />],
                    ]}
                  />
                </div>
              </Panel>
              <Panel title="Not acknowledged">
                <div className="p-4">
                  <Pairs
                    pairs={[
                      [
                        'Pending',
                        <Link key="p" to="/messages" search={{ consumer: code, stage: 'Pending' }} className="link">
                          {pending}
                        </Link>,
                      ],
                      [
                        'Failed',
                        <Link key="f" to="/messages" search={{ consumer: code, stage: 'Failed' }} className="link">
                          {failed}
                        </Link>,
                      ],
                      [
                        'Dead',
                        <Link key="d" to="/messages" search={{ consumer: code, stage: 'Dead' }} className="link">
                          {dead}
                        </Link>,
                      ],
                      ['Oldest', oldestAt === undefined ? undefined : <Time key="o" at={oldestAt} />],
                      ['Last error', lastError === undefined ? undefined : clipped(lastError, 300)],
                    ]}
                  />
                </div>
              </Panel>
            </div>
            <h2 className="heading -mb-2">Messages</h2>
            <DeliveryTable stage="any" consumer={code} />
            <Notices consumer={code} />
            <Panel title="Subscriptions">
              <div className="p-4">
                <JsonTree value={data.subscriptions} label="the subscriptions" />
              </div>
            </Panel>
          </Page>
        );
      }}
    </Answered>
  );
}

function ConsumerActions({
  code,
  isPaused,
  kind,
}: {
  readonly code: string;
  readonly isPaused: boolean;
  readonly kind: string;
}) {
  const command = useCommand(['consumer', code], ['consumers']);
  const refused = useRefusal('lifecycles:manage');
  const [secret, setSecret] = useState<string | null>(null);
  const [isReplaying, setReplaying] = useState(false);
  const rotate = async () => {
    const made = await command('The new secret', () => rotateConsumerSecret(code));
    if (made?.secret !== undefined) setSecret(made.secret);
  };
  return (
    <>
      <Button
        reason={refused}
        onClick={() => void command(isPaused ? 'Resume' : 'Pause', () => pauseConsumer(code, !isPaused))}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      {kind === 'webhook' && (
        <Button reason={refused} onClick={() => void rotate()}>
          New secret
        </Button>
      )}
      <Button reason={refused} onClick={() => setReplaying(true)}>
        Replay…
      </Button>
      <SecretOnce secret={secret} what="The consumer’s secret" onClose={() => setSecret(null)} />
      {isReplaying && <ReplayDialog code={code} onClose={() => setReplaying(false)} />}
    </>
  );
}

function ReplayDialog({ code, onClose }: { readonly code: string; readonly onClose: () => void }) {
  const command = useCommand(['consumer', code], ['messages']);
  const [from, setFrom] = useState('');
  const run = async () => {
    if ((await command('Replay', () => replayConsumer(code, new Date(from)))) !== undefined) onClose();
  };
  return (
    <Dialog
      title="Send the past again"
      description="Everything it subscribed to since then is sent once more."
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" reason={from === '' ? 'Give a time' : null} onClick={() => void run()}>
          Replay
        </Button>
      }
    >
      <label className="flex flex-col gap-1">
        <span className="text-muted">From</span>
        <input type="datetime-local" className="field" value={from} onChange={({ target }) => setFrom(target.value)} />
      </label>
    </Dialog>
  );
}

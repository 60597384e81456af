// One trigger: when it fires next, what it has fired with which outcome, its address and its secret.

import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { CopyButton } from '../../component/copy.tsx';
import { Dialog } from '../../component/dialog.tsx';
import { JsonTree } from '../../component/json-tree.tsx';
import { Page, Pairs, Panel } from '../../component/page.tsx';
import { SecretOnce } from '../../component/secret.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { useRefusal } from '../../data/session-query.ts';
import { deleteTrigger, fireTrigger, rotateTriggerSecret, useFirings, useTrigger } from '../../data/triggers.ts';
import { clipped, shortId } from '../../model/text.ts';
import { Backfill } from './backfill.tsx';

type Trigger = NonNullable<ReturnType<typeof useTrigger>['data']>;

export function TriggerPage() {
  const { triggerId } = useParams({ strict: false }) as { triggerId: string };
  const trigger = useTrigger(triggerId);
  return (
    <Answered query={trigger} what="the trigger">
      {(data) => (
        <Page
          title={`${data.triggerType} of ${clipped(data.workflowId, 60)}`}
          actions={<TriggerActions trigger={data} />}
        >
          <div className="grid items-start gap-4 lg:grid-cols-[2fr_3fr]">
            <About trigger={data} />
            <Firings id={triggerId} />
          </div>
        </Page>
      )}
    </Answered>
  );
}

function About({ trigger }: { readonly trigger: Trigger }) {
  return (
    <Panel title="The trigger">
      <div className="flex flex-col gap-4 p-4">
        <Pairs
          pairs={[
            [
              'Workflow',
              <Link key="w" to="/workflows/$workflowId" params={{ workflowId: trigger.workflowId }} className="link">
                {clipped(trigger.workflowId, 80)}
              </Link>,
            ],
            ['State', trigger.isEnabled ? 'on' : 'off'],
            [
              'Condition',
              trigger.activationCondition === undefined ? undefined : (
                <code key="c">{clipped(trigger.activationCondition, 300)}</code>
              ),
            ],
            [
              'Address',
              trigger.webhookUrl === undefined ? undefined : (
                <span key="u" className="font-mono text-xs">
                  {trigger.webhookUrl}
                  <CopyButton text={trigger.webhookUrl} label="Copy the address" />
                </span>
              ),
            ],
            [
              'Signed',
              trigger.hasSecret === undefined ? undefined : trigger.hasSecret ? 'requests must be signed' : 'no',
            ],
          ]}
        />
        {Object.keys(trigger.config).length > 0 && <JsonTree value={trigger.config} label="the configuration" />}
        {(trigger.nextFireTimes?.length ?? 0) > 0 && (
          <section>
            <h3 className="heading mb-1">Next</h3>
            <ul>
              {trigger.nextFireTimes!.map((at) => (
                <li key={at} className="flex gap-3">
                  <Time at={at} as="clock" />
                  <span className="text-muted">
                    <Time at={at} />
                  </span>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </Panel>
  );
}

function Firings({ id }: { readonly id: string }) {
  const firings = useFirings(id);
  return (
    <Answered query={firings} what="the firings">
      {(list) =>
        list.length === 0 ? (
          <Panel title="Firings">
            <Empty title="It has not fired yet">Each firing stands here with its outcome and its execution.</Empty>
          </Panel>
        ) : (
          <Table label="Firings" columns={['Fired', 'Outcome', 'Execution', 'Reason']}>
            {list.map(({ firedAt, outcome, executionId, reason, requestId }) => (
              <Row key={`${firedAt} ${requestId}`}>
                <Cell isMain>
                  <Time at={firedAt} as="clock" />
                </Cell>
                <Cell>
                  <Status status={outcome} />
                </Cell>
                <Cell>
                  {executionId !== undefined && (
                    <Link to="/executions/$executionId" params={{ executionId }} className="link font-mono text-xs">
                      {shortId(executionId)}
                    </Link>
                  )}
                </Cell>
                <Cell>{clipped(reason ?? '', 200)}</Cell>
              </Row>
            ))}
          </Table>
        )
      }
    </Answered>
  );
}

function TriggerActions({ trigger }: { readonly trigger: Trigger }) {
  const command = useCommand(['trigger', trigger.id], ['triggers']);
  const navigate = useNavigate();
  const refused = useRefusal('triggers:manage');
  const [secret, setSecret] = useState<string | null>(null);
  const [isFiring, setFiring] = useState(false);
  const rotate = async () => {
    const made = await command('The new secret', () => rotateTriggerSecret(trigger.id));
    if (made?.secret !== undefined) setSecret(made.secret);
  };
  const remove = async () => {
    const done = await command('Delete', async () => {
      await deleteTrigger(trigger.id);
      return true;
    });
    if (done === true) await navigate({ to: '/triggers' });
  };
  return (
    <>
      <Button kind="primary" onClick={() => setFiring(true)}>
        Fire…
      </Button>
      {trigger.triggerType === 'Schedule' && <Backfill trigger={trigger} />}
      {trigger.triggerType === 'Webhook' && (
        <Button reason={refused} onClick={() => void rotate()}>
          New secret
        </Button>
      )}
      <Button reason={refused} onClick={() => void remove()}>
        Delete
      </Button>
      <SecretOnce secret={secret} what="The webhook’s secret" onClose={() => setSecret(null)} />
      {isFiring && <FireDialog id={trigger.id} onClose={() => setFiring(false)} />}
    </>
  );
}

function FireDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const command = useCommand(['trigger', id]);
  const navigate = useNavigate();
  const [text, setText] = useState('{}');
  const [key] = useState(() => crypto.randomUUID());
  const fire = async () => {
    const answer = await command('Fire', async () => fireTrigger(id, JSON.parse(text), key));
    if (answer === undefined) return;
    if ('executionId' in answer)
      await navigate({ to: '/executions/$executionId', params: { executionId: answer.executionId } });
    else onClose();
  };
  return (
    <Dialog
      title="Fire the trigger"
      description="Its condition is judged; whether it is switched on is not."
      isOpen
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={() => void fire()}>
          Fire
        </Button>
      }
    >
      <label className="flex flex-col gap-1">
        <span className="text-muted">Payload, as JSON</span>
        <textarea
          className="field font-mono text-xs"
          rows={6}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
    </Dialog>
  );
}

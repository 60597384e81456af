// Triggers: what starts executions, when next, and whether it is on.

import { Link, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Page } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Switch } from '../../component/switch.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { useRefusal } from '../../data/session-query.ts';
import { type Trigger, updateTrigger, useTriggers } from '../../data/triggers.ts';
import { clipped } from '../../model/text.ts';
import { triggerText } from '../../model/trigger-text.ts';
import { NewTrigger } from './new-trigger.tsx';

export function TriggersPage() {
  const { workflowId } = useSearch({ strict: false }) as { workflowId?: string };
  const triggers = useTriggers(workflowId === undefined ? {} : { workflowId });
  const refused = useRefusal('triggers:manage');
  const command = useCommand(['triggers']);
  const [isNew, setNew] = useState(false);
  return (
    <Page
      title="Triggers"
      detail={workflowId === undefined ? undefined : `Of ${clipped(workflowId, 80)}`}
      actions={
        <Button
          kind="primary"
          reason={refused}
          icon={<Plus className="size-4" aria-hidden="true" />}
          onClick={() => setNew(true)}
        >
          New trigger
        </Button>
      }
    >
      <Answered query={triggers} what="the triggers">
        {(list) =>
          list.length === 0 ? (
            <Empty title="No triggers">
              A trigger starts a workflow by a schedule, a webhook, an event, or a click.
            </Empty>
          ) : (
            <Table label="Triggers" columns={['Trigger', 'Workflow', 'Next', 'Last', 'On']}>
              {list.map((trigger) => (
                <Row key={trigger.id}>
                  <Cell isMain>
                    <Link
                      to="/triggers/$triggerId"
                      params={{ triggerId: trigger.id }}
                      className="font-medium hover:text-accent"
                    >
                      {trigger.triggerType}
                    </Link>
                    <span className="block max-w-md truncate font-mono text-xs text-muted">
                      {clipped(triggerText(trigger), 120)}
                    </span>
                  </Cell>
                  <Cell label="Workflow">
                    <Link
                      to="/workflows/$workflowId"
                      params={{ workflowId: trigger.workflowId }}
                      className="hover:text-accent"
                    >
                      {clipped(trigger.workflowId, 60)}
                    </Link>
                  </Cell>
                  <Cell label="Next">
                    <Time at={trigger.isEnabled ? trigger.nextFireTimes?.[0] : undefined} />
                  </Cell>
                  <Cell label="Last">
                    <LastFiring trigger={trigger} />
                  </Cell>
                  <Cell label="On">
                    <Switch
                      isOn={trigger.isEnabled}
                      reason={refused}
                      label={`${trigger.triggerType} of ${clipped(trigger.workflowId, 40)} is enabled`}
                      onChange={(isEnabled) => void command('Switch', () => updateTrigger(trigger.id, { isEnabled }))}
                    />
                  </Cell>
                </Row>
              ))}
            </Table>
          )
        }
      </Answered>
      {isNew && <NewTrigger workflowId={workflowId} onClose={() => setNew(false)} />}
    </Page>
  );
}

function LastFiring({ trigger }: { readonly trigger: Trigger }) {
  const { lastFiring, missed } = trigger;
  if (lastFiring === undefined) return <span className="text-faint">–</span>;
  return (
    <span className="inline-flex items-center gap-2">
      <Status status={lastFiring.outcome} as="line" />
      <Time at={lastFiring.firedAt} />
      {missed !== undefined && (
        <span className="text-warn" title={clipped(missed.reason ?? '', 300)}>
          firings were missed
        </span>
      )}
    </span>
  );
}

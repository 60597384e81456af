// What starts this workflow.

import { Link } from '@tanstack/react-router';
import { Answered, Empty } from '../../component/state.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { useTriggers } from '../../data/triggers.ts';
import { triggerText } from '../../model/trigger-text.ts';
import type { WorkflowItem } from '../../model/workflow-item.ts';

export function TriggersTab({ item }: { readonly item: WorkflowItem }) {
  const triggers = useTriggers({ workflowId: item.id });
  return (
    <Answered query={triggers} what="the triggers">
      {(list) =>
        list.length === 0 ? (
          <Empty title="No triggers">
            It starts when somebody runs it.{' '}
            <Link to="/triggers" search={{ workflowId: item.id }} className="link">
              Add a schedule, a webhook or an event
            </Link>
            .
          </Empty>
        ) : (
          <Table label="Triggers" columns={['Trigger', 'Type', 'On', 'Next']}>
            {list.map((trigger) => (
              <Row key={trigger.id}>
                <Cell isMain>
                  <Link to="/triggers/$triggerId" params={{ triggerId: trigger.id }} className="hover:text-accent">
                    {triggerText(trigger)}
                  </Link>
                </Cell>
                <Cell>{trigger.triggerType}</Cell>
                <Cell>{trigger.isEnabled ? 'on' : 'off'}</Cell>
                <Cell>
                  <Time at={trigger.nextFireTimes?.[0]} />
                </Cell>
              </Row>
            ))}
          </Table>
        )
      }
    </Answered>
  );
}

// Operations: is it well and why not, who runs what, what was given up, and who changed what.

import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { JsonTree } from '../../component/json-tree.tsx';
import { Page, TabLinks } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { purgeDeadLetter, requeueDeadLetter, useAudit, useDeadLetters } from '../../data/operations.ts';
import { clipped, shortId } from '../../model/text.ts';
import { HealthPanel } from './health-panel.tsx';
import { RunnerTable } from './runner-table.tsx';

const TABS = [
  { id: 'health', label: 'Health and runners' },
  { id: 'dead-letters', label: 'Dead letters' },
  { id: 'audit', label: 'Audit' },
] as const;

export function OperationsPage() {
  const search = useSearch({ strict: false }) as { tab?: string };
  const tab = TABS.find(({ id }) => id === search.tab)?.id ?? 'health';
  return (
    <Page title="Operations">
      <TabLinks label="Parts of operations" tabs={TABS} current={tab} />
      {tab === 'health' && (
        <>
          <HealthPanel />
          <RunnerTable />
        </>
      )}
      {tab === 'dead-letters' && <DeadLetters />}
      {tab === 'audit' && <Audit />}
    </Page>
  );
}

function DeadLetters() {
  const letters = useDeadLetters();
  const command = useCommand(['dead-letters']);
  return (
    <Answered query={letters} what="the dead letters">
      {(list) =>
        list.length === 0 ? (
          <Empty title="No dead letters">
            What the engine gave up on, or a trigger could not use, stands here with its cause.
          </Empty>
        ) : (
          <Table label="Dead letters" columns={['When', 'Reason', 'Execution', 'Attempts', '']}>
            {list.map((letter) => (
              <Row key={letter.id}>
                <Cell isMain>
                  <Time at={letter.enqueuedAt} />
                </Cell>
                <Cell>
                  <b className="font-medium">{clipped(letter.reason, 120)}</b>
                  <span className="block max-w-xl truncate text-xs text-muted">
                    {clipped(letter.lastError ?? '', 300)}
                  </span>
                </Cell>
                <Cell>
                  {letter.executionId !== undefined && (
                    <Link
                      to="/executions/$executionId"
                      params={{ executionId: letter.executionId }}
                      className="link font-mono text-xs"
                    >
                      {shortId(letter.executionId)}
                    </Link>
                  )}
                </Cell>
                <Cell label="Attempts">{letter.attempts}</Cell>
                <Cell>
                  <span className="flex gap-2">
                    <Button small onClick={() => void command('Requeue', () => requeueDeadLetter(letter.id))}>
                      Requeue
                    </Button>
                    <Button small kind="quiet" onClick={() => void command('Purge', () => purgeDeadLetter(letter.id))}>
                      Purge
                    </Button>
                  </span>
                </Cell>
              </Row>
            ))}
          </Table>
        )
      }
    </Answered>
  );
}

function Audit() {
  const [actor, setActor] = useState('');
  const [action, setAction] = useState('');
  const audit = useAudit({ ...(actor === '' ? {} : { actor }), ...(action === '' ? {} : { action }) });
  const [open, setOpen] = useState<string | null>(null);
  return (
    <>
      <search className="flex flex-wrap gap-2">
        <input
          className="field"
          placeholder="Actor"
          aria-label="Actor"
          value={actor}
          onChange={({ target }) => setActor(target.value)}
        />
        <input
          className="field"
          placeholder="Action, e.g. workflow"
          aria-label="Action"
          value={action}
          onChange={({ target }) => setAction(target.value)}
        />
      </search>
      <Answered query={audit} what="the audit log">
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data);
          if (rows.length === 0) return <Empty title="Nothing was changed" />;
          return (
            <>
              <Table label="Audit" columns={['When', 'Who', 'Did', 'To', '']}>
                {rows.map((entry) => (
                  <Row key={entry.id}>
                    <Cell isMain>
                      <Time at={entry.at} />
                    </Cell>
                    <Cell label="Who">{clipped(entry.actor, 60)}</Cell>
                    <Cell label="Did">
                      <code className="font-mono text-xs">{entry.action}</code>
                    </Cell>
                    <Cell label="To">{clipped(entry.target, 80)}</Cell>
                    <Cell>
                      {entry.details !== undefined && (
                        <Button small kind="quiet" onClick={() => setOpen(open === entry.id ? null : entry.id)}>
                          Details
                        </Button>
                      )}
                      {open === entry.id && <JsonTree value={entry.details} label="the details" />}
                    </Cell>
                  </Row>
                ))}
              </Table>
              {audit.hasNextPage && <Button onClick={() => void audit.fetchNextPage()}>More</Button>}
            </>
          );
        }}
      </Answered>
    </>
  );
}

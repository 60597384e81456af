// The processes that run executions.

import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Dialog } from '../../component/dialog.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { drainRunner, useRunners } from '../../data/operations.ts';
import { useRefusal } from '../../data/session-query.ts';
import { clipped } from '../../model/text.ts';

export function RunnerTable() {
  const runners = useRunners();
  const refused = useRefusal('admin');
  const [draining, setDraining] = useState<{ readonly runnerId: string; readonly name: string } | null>(null);
  return (
    <>
      <Answered query={runners} what="the runners">
        {(list) =>
          list.length === 0 ? (
            <Empty title="No runners">
              Nothing runs until one is there: <code className="font-mono">pawl runner</code> or{' '}
              <code className="font-mono">pawl serve</code>.
            </Empty>
          ) : (
            <Table label="Runners" columns={['Runner', 'State', 'In hand', 'Places', 'Since', 'Lease until', '']}>
              {list.map((runner) => {
                const { host, version, registeredAt, places } = runner;
                return (
                  <Row key={runner.runnerId}>
                    <Cell isMain>
                      <span className="font-medium">{clipped(runner.name, 60)}</span>
                      <span className="block text-xs text-muted">
                        {[host, version === undefined ? undefined : `Pawl ${version}`]
                          .filter((each) => each !== undefined)
                          .join(', ')}
                      </span>
                    </Cell>
                    <Cell>
                      <Status status={runner.state} />
                    </Cell>
                    <Cell label="In hand">{runner.owned}</Cell>
                    <Cell label="Places">{places === undefined ? '–' : `${places.busy} of ${places.total}`}</Cell>
                    <Cell label="Since">
                      <Time at={registeredAt} />
                    </Cell>
                    <Cell label="Lease until">
                      <Time at={runner.leaseExpiresAt} />
                    </Cell>
                    <Cell>
                      {(runner.state === 'live' || runner.state === 'draining') && (
                        <Button
                          small
                          reason={refused ?? (runner.state === 'draining' ? 'It drains already' : null)}
                          onClick={() => setDraining(runner)}
                        >
                          Drain…
                        </Button>
                      )}
                    </Cell>
                  </Row>
                );
              })}
            </Table>
          )
        }
      </Answered>
      {draining !== null && <DrainDialog runner={draining} onClose={() => setDraining(null)} />}
    </>
  );
}

interface DrainDialogProps {
  readonly runner: { readonly runnerId: string; readonly name: string };
  readonly onClose: () => void;
}

function DrainDialog({ runner, onClose }: DrainDialogProps) {
  const command = useCommand(['runners']);
  const run = async () => {
    const done = await command('Drain', async () => {
      await drainRunner(runner.runnerId);
      return true;
    });
    if (done === true) onClose();
  };
  return (
    <Dialog
      title={`Drain ${clipped(runner.name, 60)}?`}
      description="It finishes its attempts, gives its executions to other runners and takes nothing more until its process is started again."
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it running</Button>
          <Button kind="danger" onClick={() => void run()}>
            Drain it
          </Button>
        </>
      }
    />
  );
}

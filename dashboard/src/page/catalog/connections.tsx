// The tenant's connections of a connector: which are set, whether they work, and a check. Secrets are never shown.

import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Answered } from '../../component/state.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { checkConnection, useConnections } from '../../data/operations.ts';
import { useRefusal } from '../../data/session-query.ts';
import { clipped } from '../../model/text.ts';

export function Connections({ connector }: { readonly connector: string }) {
  const connections = useConnections(connector);
  const command = useCommand(['connections', connector], ['connectors']);
  const refused = useRefusal('connections:manage');
  if ((connections.data?.length ?? 0) === 0 && connections.error === null) return null;
  return (
    <Answered query={connections} what="the connections" rows={2}>
      {(list) => (
        <Table label="Connections" columns={['Connection', 'Kind', 'State', 'Last used', 'Checked', '']}>
          {list.map(({ name, kind, principal, isDefault, status, problem, lastUsedAt, check }) => (
            <Row key={`${name} ${principal ?? ''}`}>
              <Cell isMain>
                <span className="font-medium">{clipped(name, 80)}</span>
                <span className="block text-xs text-muted">
                  {isDefault ? 'used where a node names none' : 'used where a node names it'}
                  {principal !== undefined && `, of ${clipped(principal, 60)}`}
                </span>
              </Cell>
              <Cell label="Kind">{kind}</Cell>
              <Cell label="State">
                {status === 'ready' ? (
                  <span className="text-ok">ready</span>
                ) : (
                  <span className="text-bad">{clipped(problem ?? 'not authorized', 200)}</span>
                )}
              </Cell>
              <Cell label="Last used">
                <Time at={lastUsedAt} />
              </Cell>
              <Cell label="Checked">
                {check === undefined ? (
                  <span className="text-faint">never</span>
                ) : (
                  <span
                    className={check.ok ? 'text-ok' : 'text-bad'}
                    title={check.message === undefined ? undefined : clipped(check.message, 300)}
                  >
                    {check.ok ? 'works' : 'refused'}, <Time at={check.at} />
                  </span>
                )}
              </Cell>
              <Cell>
                <Button
                  small
                  reason={refused}
                  onClick={() => void command('The check', () => checkConnection(name, principal))}
                >
                  Check
                </Button>
              </Cell>
            </Row>
          ))}
        </Table>
      )}
    </Answered>
  );
}

// The catalog: connectors, their actions with schemas; switch them off, or say that they are going away.

import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { JsonTree } from '../../component/json-tree.tsx';
import { Page } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Switch } from '../../component/switch.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import {
  type Connector,
  setConnectorEnabled,
  updateAction,
  useConnectorActions,
  useConnectors,
} from '../../data/operations.ts';
import { useRefusal } from '../../data/session-query.ts';
import { clipped } from '../../model/text.ts';
import { Connections } from './connections.tsx';

export function CatalogPage() {
  const connectors = useConnectors();
  const command = useCommand(['connectors']);
  const refused = useRefusal('admin');
  return (
    <Page title="Catalog" detail="Connectors and the actions that nodes run.">
      <Answered query={connectors} what="the connectors">
        {(list) => (
          <Table label="Connectors" columns={['Connector', 'Version', 'Credential', 'On']}>
            {list.map((connector) => (
              <Row key={connector.id}>
                <Cell isMain>
                  <Link
                    to="/catalog/$connectorId"
                    params={{ connectorId: connector.id }}
                    className="font-medium hover:text-accent"
                  >
                    {clipped(connector.displayName, 60)}
                  </Link>
                  <span className="block max-w-2xl text-xs text-muted">{clipped(connector.description, 200)}</span>
                </Cell>
                <Cell label="Version">{connector.version}</Cell>
                <Cell label="Credential">
                  <Credential connector={connector} />
                </Cell>
                <Cell label="On">
                  <Switch
                    isOn={connector.isEnabled}
                    reason={refused}
                    label={`${connector.displayName} is enabled`}
                    onChange={(isOn) => void command('Switch', () => setConnectorEnabled(connector.id, isOn))}
                  />
                </Cell>
              </Row>
            ))}
          </Table>
        )}
      </Answered>
    </Page>
  );
}

function Credential({ connector }: { readonly connector: Connector }) {
  const { credential } = connector;
  if (!connector.requiresAuth) return <span className="text-faint">none needed</span>;
  if (credential === undefined) return <span className="text-muted">needed</span>;
  if (!credential.isSet) return <span className="text-warn">not set</span>;
  const { lastOkAt, lastRefusedAt } = credential;
  if (lastRefusedAt !== undefined && (lastOkAt === undefined || lastRefusedAt > lastOkAt)) {
    return (
      <span className="text-bad">
        refused <Time at={lastRefusedAt} />
      </span>
    );
  }
  return <span className="text-ok">{lastOkAt === undefined ? 'set' : 'works'}</span>;
}

export function ConnectorPage() {
  const { connectorId } = useParams({ strict: false }) as { connectorId: string };
  const actions = useConnectorActions(connectorId);
  const command = useCommand(['connector', connectorId, 'actions'], ['actions']);
  const refused = useRefusal('admin');
  const [open, setOpen] = useState<string | null>(null);
  return (
    <Page title={connectorId} detail="Its actions, with the schemas of what they take and give.">
      <Connections connector={connectorId} />
      <Answered query={actions} what="the actions">
        {(list) =>
          list.length === 0 ? (
            <Empty title="It has no actions" />
          ) : (
            <ul className="flex flex-col gap-3">
              {list.map((action) => (
                <li key={action.id} className="panel">
                  <div className="flex flex-wrap items-center gap-3 px-4 py-2.5">
                    <div className="min-w-0 flex-1 max-sm:basis-full">
                      <p className="font-medium">
                        {clipped(action.displayName, 80)}{' '}
                        <code className="font-mono text-xs font-normal text-muted">{action.id}</code>
                      </p>
                      <p className="text-muted">{clipped(action.description, 300)}</p>
                      {action.deprecationNotice !== undefined && (
                        <p className="text-warn">Deprecated: {clipped(action.deprecationNotice, 300)}</p>
                      )}
                    </div>
                    <Link to="/executions" search={{ error: action.id }} className="link text-xs">
                      failures
                    </Link>
                    <Button
                      small
                      aria-expanded={open === action.id}
                      onClick={() => setOpen(open === action.id ? null : action.id)}
                    >
                      Schemas
                    </Button>
                    <Switch
                      isOn={action.isEnabled}
                      reason={refused}
                      label={`${action.id} is enabled`}
                      onChange={(isEnabled) => void command('Switch', () => updateAction(action.id, { isEnabled }))}
                    />
                  </div>
                  {open === action.id && (
                    <div className="grid gap-4 border-t p-4 md:grid-cols-2">
                      <section>
                        <h3 className="heading mb-1">Parameters</h3>
                        <JsonTree value={action.parameterSchema} label="the parameters' schema" open={3} />
                      </section>
                      <section>
                        <h3 className="heading mb-1">Outputs</h3>
                        <JsonTree value={action.outputSchema} label="the outputs' schema" open={3} />
                      </section>
                    </div>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Page>
  );
}

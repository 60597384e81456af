// Lifecycles: the machines that business objects live in.

import { Link, useNavigate } from '@tanstack/react-router';
import { Upload } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Dialog } from '../../component/dialog.tsx';
import { Page } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { importLifecycle, useLifecycleCounts, useLifecycles } from '../../data/lifecycles.ts';
import { useRefusal } from '../../data/session-query.ts';
import { clipped, countText } from '../../model/text.ts';

export function LifecyclesPage() {
  const lifecycles = useLifecycles();
  const refused = useRefusal('lifecycles:manage');
  const [isImporting, setImporting] = useState(false);
  return (
    <Page
      title="Lifecycles"
      actions={
        <Button
          kind="primary"
          reason={refused}
          icon={<Upload className="size-4" aria-hidden="true" />}
          onClick={() => setImporting(true)}
        >
          Import…
        </Button>
      }
    >
      <Answered query={lifecycles} what="the lifecycles">
        {(list) =>
          list.length === 0 ? (
            <Empty title="No lifecycles">
              A lifecycle is a state machine for business objects: orders, loans, tickets. Import its definition.
            </Empty>
          ) : (
            <Table
              label="Lifecycles"
              columns={['Lifecycle', 'Environment', 'Instances by state', 'Version', 'Imported']}
            >
              {list.map(({ env, name, version, importedAt }) => (
                <Row key={`${env}/${name}`}>
                  <Cell isMain>
                    <Link to="/lifecycles/$env/$name" params={{ env, name }} className="font-medium hover:text-accent">
                      {clipped(name, 80)}
                    </Link>
                  </Cell>
                  <Cell label="Environment">{clipped(env, 40)}</Cell>
                  <Cell label="Instances">
                    <StateCounts env={env} name={name} />
                  </Cell>
                  <Cell label="Version">v{version}</Cell>
                  <Cell label="Imported">
                    <Time at={importedAt} />
                  </Cell>
                </Row>
              ))}
            </Table>
          )
        }
      </Answered>
      {isImporting && <ImportDialog onClose={() => setImporting(false)} />}
    </Page>
  );
}

const SHOWN = 4;
const COUNTED = 10_000;

/** The fullest states, each a link to its instances. */
function StateCounts({ env, name }: { readonly env: string; readonly name: string }) {
  const counts = (useLifecycleCounts(env, name).data ?? []).filter(({ count }) => count > 0);
  if (counts.length === 0) return <span className="text-faint">none</span>;
  const shown = counts.toSorted((a, b) => b.count - a.count).slice(0, SHOWN);
  return (
    <span className="flex flex-wrap gap-1.5">
      {shown.map(({ state, count }) => (
        <Link
          key={state}
          to="/lifecycles/$env/$name"
          params={{ env, name }}
          search={{ state }}
          className="rounded-full bg-idle-soft px-2 py-0.5 text-xs hover:text-accent"
        >
          {clipped(state, 30)} <b className="tabular font-semibold">{countText(count, count >= COUNTED)}</b>
        </Link>
      ))}
      {counts.length > shown.length && <span className="text-xs text-muted">+ {counts.length - shown.length}</span>}
    </span>
  );
}

function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const command = useCommand(['lifecycles']);
  const navigate = useNavigate();
  const [definition, setDefinition] = useState('');
  const [policies, setPolicies] = useState('');
  const run = async () => {
    const given = policies.trim() === '' ? undefined : policies;
    const made = await command('Import', async () =>
      importLifecycle(
        JSON.parse(definition) as object,
        given === undefined ? undefined : (JSON.parse(given) as object),
      ),
    );
    if (made !== undefined) {
      await navigate({ to: '/lifecycles/$env/$name', params: { env: made.env, name: made.name } });
    }
  };
  const fields = [
    ['Definition', definition, setDefinition],
    ['Policies, if any', policies, setPolicies],
  ] as const;
  return (
    <Dialog
      wide
      title="Import a lifecycle"
      description="The same definition again changes nothing; another one becomes a new version."
      isOpen
      onClose={onClose}
      actions={
        <Button
          kind="primary"
          reason={definition.trim() === '' ? 'Paste a definition' : null}
          onClick={() => void run()}
        >
          Import
        </Button>
      }
    >
      {fields.map(([label, value, set]) => (
        <label key={label} className="flex flex-col gap-1">
          <span className="text-muted">{label}, as JSON</span>
          <textarea
            className="field font-mono text-xs"
            rows={9}
            spellCheck={false}
            value={value}
            onChange={({ target }) => set(target.value)}
          />
        </label>
      ))}
    </Dialog>
  );
}

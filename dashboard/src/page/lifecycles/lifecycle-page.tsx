// One lifecycle: the machine with how many instances are in each state, and the instances themselves.

import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { Page, Panel } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { useInstances, useLifecycle, useLifecycleCounts, useLifecycleVersions } from '../../data/lifecycles.ts';
import { useRefusal } from '../../data/session-query.ts';
import { MachineDiagram } from '../../graph/machine-diagram.tsx';
import { machineGraph } from '../../model/machine-graph.ts';
import { clipped, countText } from '../../model/text.ts';
import { TriggerDialog } from './trigger-dialog.tsx';

/** No state is counted further than this. */
const COUNTED = 10_000;

interface Search {
  readonly state?: string | undefined;
  readonly prefix?: string | undefined;
  readonly version?: string | undefined;
}

export function LifecyclePage() {
  const { env, name } = useParams({ strict: false }) as { env: string; name: string };
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const lifecycle = useLifecycle(env, name, search.version === undefined ? undefined : Number(search.version));
  const counts = useLifecycleCounts(env, name);
  const refused = useRefusal('lifecycles:trigger');
  const [isTriggering, setTriggering] = useState(false);
  const choose = (change: Search) => void navigate({ to: '.', replace: true, search: { ...search, ...change } });
  const texts = Object.fromEntries(
    (counts.data ?? []).map(({ state, count }) => [state, countText(count, count >= COUNTED)]),
  );
  return (
    <Answered query={lifecycle} what="the lifecycle">
      {(data) => {
        const graph = machineGraph(data.definition);
        return (
          <Page
            title={`${name} in ${env}`}
            head={
              <>
                {clipped(name, 80)}
                <span className="text-sm font-normal text-muted">
                  {env}, v{data.version}
                </span>
              </>
            }
            actions={
              <>
                <VersionChoice env={env} name={name} shown={data.version} onChange={choose} />
                <Button kind="primary" reason={refused} onClick={() => setTriggering(true)}>
                  Trigger…
                </Button>
              </>
            }
          >
            <Panel title="Machine">
              <MachineDiagram
                graph={graph}
                counts={texts}
                current={search.state}
                onSelect={(state) => choose({ state: state === search.state ? undefined : state })}
              />
            </Panel>
            <Filters search={search} states={graph.states.map((state) => state.name)} onChange={choose} />
            <Instances env={env} name={name} search={search} />
            {isTriggering && <TriggerDialog env={env} name={name} graph={graph} onClose={() => setTriggering(false)} />}
          </Page>
        );
      }}
    </Answered>
  );
}

interface VersionChoiceProps {
  readonly env: string;
  readonly name: string;
  readonly shown: number;
  readonly onChange: (change: Search) => void;
}

/** Which version of the machine is drawn; instances stay on the version they began with. */
function VersionChoice({ env, name, shown, onChange }: VersionChoiceProps) {
  const versions = useLifecycleVersions(env, name).data ?? [];
  if (versions.length < 2) return null;
  const newest = versions[0]!.version;
  return (
    <select
      className="field"
      aria-label="Version"
      value={shown}
      onChange={({ target }) => onChange({ version: Number(target.value) === newest ? undefined : target.value })}
    >
      {versions.map(({ version }) => (
        <option key={version} value={version}>
          v{version}
          {version === newest ? ', newest' : ''}
        </option>
      ))}
    </select>
  );
}

interface FiltersProps {
  readonly search: Search;
  readonly states: readonly string[];
  readonly onChange: (change: Search) => void;
}

function Filters({ search, states, onChange }: FiltersProps) {
  return (
    <search className="flex flex-wrap gap-2">
      <select
        className="field"
        aria-label="State"
        value={search.state ?? ''}
        onChange={({ target }) => onChange({ state: target.value || undefined })}
      >
        <option value="">Every state</option>
        {states.map((state) => (
          <option key={state}>{state}</option>
        ))}
      </select>
      <input
        type="search"
        className="field"
        placeholder="Reference begins with"
        aria-label="Reference begins with"
        defaultValue={search.prefix ?? ''}
        onChange={({ target }) => onChange({ prefix: target.value || undefined })}
      />
    </search>
  );
}

function Instances({
  env,
  name,
  search: { state, prefix },
}: {
  readonly env: string;
  readonly name: string;
  readonly search: Search;
}) {
  const filter = { ...(state === undefined ? {} : { state }), ...(prefix === undefined ? {} : { prefix }) };
  const instances = useInstances(env, name, filter);
  return (
    <Answered query={instances} what="the instances">
      {({ pages }) => {
        const rows = pages.flatMap(({ data }) => data);
        if (rows.length === 0) return <Empty title="No instance here">One begins with its first event.</Empty>;
        return (
          <>
            <Table label="Instances" columns={['Reference', 'State', 'Since', 'Timeout', 'Version']}>
              {rows.map((instance) => (
                <Row key={instance.instanceId}>
                  <Cell isMain>
                    <Link
                      to="/lifecycles/$env/$name/$externalRef"
                      params={{ env, name, externalRef: instance.externalRef }}
                      className="font-medium hover:text-accent"
                    >
                      {clipped(instance.externalRef, 80)}
                    </Link>
                  </Cell>
                  <Cell label="State">{clipped(instance.state, 40)}</Cell>
                  <Cell label="Since">
                    <Time at={instance.stateSince} />
                  </Cell>
                  <Cell label="Timeout">
                    <Time at={instance.timeoutAt} />
                  </Cell>
                  <Cell label="Version">v{instance.version}</Cell>
                </Row>
              ))}
            </Table>
            {instances.hasNextPage && <Button onClick={() => void instances.fetchNextPage()}>More</Button>}
          </>
        );
      }}
    </Answered>
  );
}

// One business object: where it stands, its timeline, and who has acknowledged which message.

import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { JsonTree } from '../../component/json-tree.tsx';
import { Page, Panel, TabLinks } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Time } from '../../component/time.tsx';
import { type TimelineEntry, useInstance, useLifecycle, useTimeline } from '../../data/lifecycles.ts';
import { MachineDiagram } from '../../graph/machine-diagram.tsx';
import { machineGraph } from '../../model/machine-graph.ts';
import { clipped } from '../../model/text.ts';
import { AckMatrix } from './ack-matrix.tsx';
import { TriggerDialog } from './trigger-dialog.tsx';

const TABS = [
  { id: 'timeline', label: 'Timeline' },
  { id: 'messages', label: 'Messages' },
];

export function InstancePage() {
  const { env, name, externalRef } = useParams({ strict: false }) as { env: string; name: string; externalRef: string };
  const { tab } = useSearch({ strict: false }) as { tab?: string };
  const instance = useInstance(env, name, externalRef);
  const lifecycle = useLifecycle(env, name, instance.data?.version);
  const [isTriggering, setTriggering] = useState(false);
  const graph = lifecycle.data === undefined ? null : machineGraph(lifecycle.data.definition);
  return (
    <Answered query={instance} what="the instance">
      {({ state, stateSince, timeoutAt, final }) => (
        <Page
          title={externalRef}
          head={
            <>
              {clipped(externalRef, 80)}
              <span className="rounded-full bg-accent-soft px-2 text-sm font-medium text-accent">
                {clipped(state, 40)}
              </span>
            </>
          }
          detail={
            <>
              {name} in {env}, since <Time at={stateSince} />
              {timeoutAt !== undefined && ', times out '}
              {timeoutAt !== undefined && <Time at={timeoutAt} />}
            </>
          }
          actions={
            <Button kind="primary" reason={final ? 'This state is final' : null} onClick={() => setTriggering(true)}>
              Trigger…
            </Button>
          }
        >
          <Panel>{graph !== null && <MachineDiagram graph={graph} current={state} />}</Panel>
          <TabLinks label="Parts of the instance" current={tab === 'messages' ? 'messages' : 'timeline'} tabs={TABS} />
          {tab === 'messages' ? (
            <AckMatrix env={env} name={name} externalRef={externalRef} />
          ) : (
            <InstanceTimeline env={env} name={name} externalRef={externalRef} />
          )}
          {isTriggering && graph !== null && (
            <TriggerDialog
              env={env}
              name={name}
              graph={graph}
              externalRef={externalRef}
              state={state}
              onClose={() => setTriggering(false)}
            />
          )}
        </Page>
      )}
    </Answered>
  );
}

interface InstanceTimelineProps {
  readonly env: string;
  readonly name: string;
  readonly externalRef: string;
}

function InstanceTimeline({ env, name, externalRef }: InstanceTimelineProps) {
  const timeline = useTimeline(env, name, externalRef);
  return (
    <Answered query={timeline} what="the timeline">
      {(list) => {
        if (list.length === 0) return <Empty title="Nothing has happened" />;
        return (
          <ol className="panel divide-y" aria-label="Timeline">
            {list.map((entry, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: entries are only ever added at one end
              <Entry key={index} entry={entry} />
            ))}
          </ol>
        );
      }}
    </Answered>
  );
}

function Entry({ entry }: { readonly entry: TimelineEntry }) {
  const { at, kind, event = '', from, to, activity = '', status = '', actor = '', payload } = entry;
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-4 py-2">
      <span className="w-24 text-xs text-muted">
        <Time at={at} as="clock" />
      </span>
      <span>
        <b className="font-medium">{clipped(kind === 'transition' ? event : activity, 80)}</b>{' '}
        <span className="text-muted">{kind === 'transition' ? `${from} → ${to}` : clipped(status, 40)}</span>
      </span>
      <span className="text-xs text-faint">{clipped(actor, 60)}</span>
      {payload !== undefined && (
        <span className="basis-full">
          <JsonTree value={payload} open={0} label="the payload" />
        </span>
      )}
    </li>
  );
}

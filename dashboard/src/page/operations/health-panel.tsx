// Health, with every check and its numbers, and the reasons when it is not well.

import { Pairs, Panel } from '../../component/page.tsx';
import { Answered } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { useDetailedHealth } from '../../data/operations.ts';
import { countText } from '../../model/text.ts';
import { durationText } from '../../model/time.ts';

export function HealthPanel() {
  const health = useDetailedHealth();
  return (
    <Answered query={health} what="the health" rows={4}>
      {({ status, checks, ...rest }) => {
        const { reasons = [] } = rest as { reasons?: readonly string[] };
        const { native, stateStore, secretsProvider, artifactStore, eventBus } = checks;
        return (
          <>
            {reasons.length > 0 && (
              <ul className="rounded-lg border border-warn-solid/40 bg-warn-soft px-4 py-2 text-warn">
                {reasons.map((reason) => (
                  <li key={reason}>{reason}</li>
                ))}
              </ul>
            )}
            <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-4">
              <Panel title="Engine" actions={<Status status={status} />}>
                <div className="p-4">
                  <Pairs
                    pairs={[
                      ['Live runners', native.liveRunners],
                      ['Executions in hand', countText(native.owned)],
                      ['Queued or parked', countText(native.queueDepth)],
                      [
                        'Start, p95',
                        native.startLatencyP95Ms === undefined ? undefined : durationText(native.startLatencyP95Ms),
                      ],
                    ]}
                  />
                </div>
              </Panel>
              <Panel title="Database">
                <div className="p-4">
                  <Pairs
                    pairs={[
                      ['Answers in', durationText(stateStore.latencyMs)],
                      ['Connections', stateStore.connections],
                      ['Writable', stateStore.writable ? 'yes' : 'no'],
                    ]}
                  />
                </div>
              </Panel>
              <Panel title="Secrets and artifacts">
                <div className="p-4">
                  <Pairs
                    pairs={[
                      ['Secrets', secretsProvider.detail],
                      ['Artifacts', artifactStore.detail],
                    ]}
                  />
                </div>
              </Panel>
              <Panel title="Event bus">
                <div className="p-4">
                  <Pairs
                    pairs={[
                      ['Connected', eventBus.connected ? 'yes' : 'no'],
                      ['Backlog', eventBus.backlogDepth],
                    ]}
                  />
                </div>
              </Panel>
            </div>
          </>
        );
      }}
    </Answered>
  );
}

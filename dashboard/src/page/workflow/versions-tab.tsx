// Every version, what differs between two of them, and the way back to an older one.

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { Button } from '../../component/button.tsx';
import { Panel } from '../../component/page.tsx';
import { Answered, Skeleton } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { Time } from '../../component/time.tsx';
import { complain, say } from '../../component/toast.tsx';
import { useRefusal } from '../../data/session-query.ts';
import { rollBack, useVersions, useWorkflow } from '../../data/workflows.ts';
import type { WorkflowItem } from '../../model/workflow-item.ts';

const TextDiff = lazy(async () => ({ default: (await import('../../editor/text-diff.tsx')).TextDiff }));

export function VersionsTab({ item }: { readonly item: WorkflowItem }) {
  const versions = useVersions(item.id);
  const search = useSearch({ strict: false }) as { diff?: string };
  const navigate = useNavigate();
  const client = useQueryClient();
  const refused = useRefusal('workflows:manage');
  const compare = (version: number) =>
    void navigate({
      to: '.',
      replace: true,
      search: (before: Record<string, unknown>) => ({ ...before, diff: version }),
    });
  const back = async (version: number) => {
    try {
      await rollBack(item, version);
      say(`Version ${version} is active again`);
      await client.invalidateQueries({ queryKey: ['workflow', item.id] });
    } catch (error) {
      complain('Rolling back was refused', error);
    }
  };
  return (
    <div className="flex flex-col gap-4">
      <Answered query={versions} what="the versions">
        {(list) => (
          <Table label="Versions" columns={['Version', 'State', 'Made', 'Live', 'Checksum', '']}>
            {list.map(({ version, isCurrent, createdAt, checksum, ...rest }) => (
              <Row key={version}>
                <Cell isMain>v{version}</Cell>
                <Cell>{isCurrent ? <Status status="Active" /> : <span className="text-faint">older</span>}</Cell>
                <Cell label="Made">
                  <Time at={createdAt} />
                </Cell>
                <Cell label="Live">{(rest as { live?: number }).live ?? '–'}</Cell>
                <Cell label="Checksum">
                  <code className="font-mono text-xs text-muted">{checksum.slice(0, 12)}</code>
                </Cell>
                <Cell>
                  <span className="flex justify-end gap-2">
                    <Button
                      small
                      reason={isCurrent ? 'This is the current version' : null}
                      onClick={() => compare(version)}
                    >
                      Compare
                    </Button>
                    <Button
                      small
                      reason={refused ?? (isCurrent ? 'This is the current version' : null)}
                      onClick={() => void back(version)}
                    >
                      Roll back to it
                    </Button>
                  </span>
                </Cell>
              </Row>
            ))}
          </Table>
        )}
      </Answered>
      {search.diff !== undefined && <VersionDiff item={item} version={Number(search.diff)} />}
    </div>
  );
}

function VersionDiff({ item, version }: { readonly item: WorkflowItem; readonly version: number }) {
  const older = useWorkflow(item.id, version);
  return (
    <Panel title={`Version ${version} and the current one`}>
      <Answered query={older} what="the version">
        {({ definition }) => (
          <Suspense fallback={<Skeleton />}>
            <TextDiff
              label="Differences"
              before={JSON.stringify(definition ?? {}, null, 2)}
              after={JSON.stringify(item.definition ?? {}, null, 2)}
            />
          </Suspense>
        )}
      </Answered>
    </Panel>
  );
}

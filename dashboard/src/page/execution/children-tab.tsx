// What belongs to an execution: those that it started, the files that it left, and what it made in other systems.

import { Link } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import { Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Time, Took } from '../../component/time.tsx';
import { useArtifacts } from '../../data/executions.ts';
import { executionLook } from '../../model/status.ts';
import { clipped, shortId } from '../../model/text.ts';
import { ArtifactList } from './artifact-list.tsx';
import type { ExecutionView } from './execution-view.ts';

export function ChildrenTab({ view: { execution } }: { readonly view: ExecutionView }) {
  const { children = [], resources = [] } = execution;
  const artifacts = useArtifacts(execution.executionId).data ?? [];
  if (children.length + resources.length + artifacts.length === 0) {
    return (
      <Empty title="Nothing belongs to it">
        Executions that a subworkflow node starts, files that actions leave, and what they make in other systems stand
        here.
      </Empty>
    );
  }
  return (
    <div className="flex flex-col">
      <ArtifactList artifacts={artifacts} />
      <ul className="divide-y">
        {children.map((child) => (
          <li key={child.executionId} className="flex flex-wrap items-center gap-3 px-4 py-2">
            <Status look={executionLook(child)} />
            <Link
              to="/executions/$executionId"
              params={{ executionId: child.executionId }}
              className="link font-medium"
            >
              {clipped(child.workflowId, 60)}
            </Link>
            <span className="font-mono text-xs text-muted">{shortId(child.executionId)}</span>
            <span className="text-xs text-muted">
              <Time at={child.createdAt} />, <Took from={child.startedAt} to={child.completedAt} />
            </span>
          </li>
        ))}
      </ul>
      <ul className="divide-y">
        {resources.map(({ system, resourceType, resourceId, url, nodeId }) => (
          <li key={`${system} ${resourceType} ${resourceId}`} className="flex flex-wrap items-center gap-2 px-4 py-2">
            <span className="text-muted">
              {clipped(system, 40)} {clipped(resourceType, 40)}
            </span>
            <span className="font-mono text-xs wrap-anywhere">{clipped(resourceId, 120)}</span>
            <span className="text-xs text-faint">by {clipped(nodeId, 40)}</span>
            {url !== undefined && /^https?:\/\//.test(url) && (
              <a href={url} target="_blank" rel="noreferrer" className="link inline-flex items-center gap-1">
                open <ExternalLink className="size-3" aria-hidden="true" />
              </a>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

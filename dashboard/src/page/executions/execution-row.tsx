// One execution in the list: what it is, how it stands and why, in a line; on a narrow screen a card.

import { Link } from '@tanstack/react-router';
import type { CSSProperties } from 'react';
import { Status } from '../../component/status.tsx';
import { Time, Took } from '../../component/time.tsx';
import type { ExecutionRow as Row } from '../../data/executions.ts';
import { executionLook } from '../../model/status.ts';
import { clipped, shortId } from '../../model/text.ts';

export const ROW_GRID =
  'md:grid-cols-[1.75rem_8.5rem_minmax(8rem,1.2fr)_8.5rem_5.5rem_5rem_minmax(8rem,2fr)] md:gap-x-3';

/** A request id that somebody chose says more than one that a program drew. */
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

interface ExecutionRowProps {
  readonly execution: Row;
  readonly style: CSSProperties;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly onToggle: () => void;
}

export function ExecutionRow({ execution, style, isCurrent, isSelected, onToggle }: ExecutionRowProps) {
  const { executionId, workflowId, version, requestId, createdAt, startedAt, completedAt } = execution;
  return (
    <li
      data-selected={isSelected}
      data-execution={executionId}
      style={style}
      className={`${ROW_GRID} absolute inset-x-0 top-0 flex flex-col justify-center gap-x-3 gap-y-0.5 border-b px-4 md:grid md:items-center ${
        isSelected ? 'bg-accent-soft' : 'hover:bg-hover'
      } ${isCurrent ? 'ring-2 ring-accent ring-inset' : ''}`}
    >
      <span className="hidden md:block">
        <input
          type="checkbox"
          checked={isSelected}
          onChange={onToggle}
          aria-label={`Select execution ${shortId(executionId)}`}
          className="relative z-1 block size-4 accent-accent-solid"
        />
      </span>
      <span className="flex items-center gap-2">
        <Status look={executionLook(execution, execution.failedNodes)} />
        <span className="ml-auto text-xs text-muted md:hidden">
          <Time at={createdAt} />
        </span>
      </span>
      <span className="flex min-w-0 items-baseline gap-1.5">
        <Link
          to="/executions/$executionId"
          params={{ executionId }}
          className="truncate font-medium after:absolute after:inset-0 hover:text-accent"
        >
          {clipped(workflowId, 80)}
        </Link>
        <span className="shrink-0 text-xs text-faint">v{version}</span>
        {requestId !== undefined && !UUID.test(requestId) && (
          <span className="min-w-0 truncate text-xs text-muted" title={`request ${requestId}`}>
            {clipped(requestId, 60)}
          </span>
        )}
      </span>
      <span
        className="hidden min-w-0 flex-col font-mono text-xs text-muted md:flex"
        title={requestId === undefined ? executionId : `${executionId}\nrequest ${requestId}`}
      >
        {shortId(executionId)}
      </span>
      <span className="hidden text-muted md:block">
        <Time at={createdAt} />
      </span>
      <span className="hidden text-muted md:block">
        <Took from={startedAt} to={completedAt} />
      </span>
      <span className="truncate text-muted">
        <Where execution={execution} />
      </span>
    </li>
  );
}

const DUE: Readonly<Record<string, string>> = { retrying: '', waiting: 'times out ' };

/** The error of what failed; of what is live, what it is at and when it goes on. */
function Where({ execution: { error, status, last, dueAt, why } }: { readonly execution: Row }) {
  if (error !== undefined) {
    return (
      <span title={clipped(error.message, 500)}>
        {error.nodeId !== undefined && <span className="text-text">{clipped(error.nodeId, 40)}: </span>}
        <span className="text-bad">{error.code}</span> {clipped(error.message, 160)}
      </span>
    );
  }
  if (status === 'Succeeded') return null;
  return (
    <>
      {last !== undefined && why === 'retrying' && (
        <>
          <span className="text-text">{clipped(last.nodeId, 40)}</span>: <span className="text-warn">{last.code}</span>,
          try {last.attempt + 1}{' '}
        </>
      )}
      {dueAt !== undefined && (
        <>
          {DUE[why ?? ''] ?? 'due '}
          <Time at={dueAt} />
        </>
      )}
    </>
  );
}

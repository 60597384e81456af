// The head of the page: which execution, how it stands, how long it waited and ran; and where it came from.

import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CopyButton } from '../../component/copy.tsx';
import { Status } from '../../component/status.tsx';
import { Time, useNow } from '../../component/time.tsx';
import type { ExecutionDetail } from '../../data/executions.ts';
import { executionLook, isEnded } from '../../model/status.ts';
import { clipped, plural, shortId } from '../../model/text.ts';
import { durationText } from '../../model/time.ts';
import { type ExecutionView, failedNodes } from './execution-view.ts';

export function ExecutionTitle({ view }: { readonly view: ExecutionView }) {
  const { execution } = view;
  const { executionId, workflowId, version } = execution;
  return (
    <>
      <Link to="/workflows/$workflowId" params={{ workflowId }} className="hover:text-accent">
        {clipped(workflowId, 80)}
      </Link>
      <span className="text-sm font-normal text-faint">v{version}</span>
      <span className="inline-flex items-center font-mono text-sm font-normal text-muted" title={executionId}>
        {shortId(executionId)}
        <CopyButton text={executionId} label="Copy the execution's id" />
      </span>
      <Status look={executionLook(execution, failedNodes(view).length)} />
      <Spent execution={execution} />
    </>
  );
}

/** What the other engine calls the run; a link where its address is known. */
function DriverRef({ driver, engineRunRef }: Pick<ExecutionDetail, 'driver' | 'engineRunRef'>) {
  if (engineRunRef === undefined) return driver;
  const { workflowId } = engineRunRef;
  const place = 'namespace' in engineRunRef ? `${engineRunRef.namespace}/${workflowId}` : workflowId;
  const base = 'conductorUrl' in engineRunRef ? engineRunRef.conductorUrl : undefined;
  return (
    <span className="inline-flex items-center gap-1">
      {driver}
      {base !== undefined && /^https?:\/\//.test(base) ? (
        <a
          href={`${base.replace(/\/(?:api\/?)?$/, '')}/execution/${encodeURIComponent(workflowId)}`}
          target="_blank"
          rel="noreferrer"
          className="link font-mono"
        >
          {clipped(workflowId, 60)}
        </a>
      ) : (
        <span className="font-mono" title={place}>
          {clipped(place, 80)}
        </span>
      )}
      <CopyButton text={workflowId} label={`Copy the id of the run in ${driver}`} />
    </span>
  );
}

/** Queue wait apart from running. */
function Spent({ execution: { createdAt, startedAt, completedAt, status } }: { readonly execution: ExecutionDetail }) {
  const now = useNow(isEnded(status) ? null : 1_000);
  const created = Date.parse(createdAt);
  const started = startedAt === undefined ? undefined : Date.parse(startedAt);
  const ended = completedAt === undefined ? (isEnded(status) ? undefined : now) : Date.parse(completedAt);
  const waited = (started ?? ended ?? now) - created;
  return (
    <span className="tabular text-sm font-normal text-muted">
      waited {durationText(Math.max(0, waited))}
      {started !== undefined &&
        ended !== undefined &&
        `, ${isEnded(status) ? 'ran' : 'live for'} ${durationText(Math.max(0, ended - started))}`}
    </span>
  );
}

/** Drawn by a program: its ends are enough. */
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function OriginLine({ execution }: { readonly execution: ExecutionDetail }) {
  const {
    requestId,
    parentExecutionId,
    principal,
    children,
    resources,
    environmentId,
    priority,
    createdAt,
    driver,
    engineRunRef,
  } = execution;
  const who = principal as { displayName?: string; userId?: string } | null | undefined;
  const parts: (readonly [string, ReactNode])[] = [['created', <Time key="at" at={createdAt} as="clock" />]];
  if (requestId !== undefined)
    parts.push([
      'request',
      <span key="r" title={requestId}>
        {UUID.test(requestId) ? shortId(requestId) : clipped(requestId, 40)}
      </span>,
    ]);
  if (who?.userId !== undefined) parts.push(['by', clipped(who.displayName ?? who.userId, 60)]);
  if (parentExecutionId !== undefined) {
    parts.push([
      'child of',
      <Link
        key="p"
        to="/executions/$executionId"
        params={{ executionId: parentExecutionId }}
        className="link font-mono"
      >
        {shortId(parentExecutionId)}
      </Link>,
    ]);
  }
  if ((children?.length ?? 0) > 0) parts.push(['', plural(children!.length, 'child', 'children')]);
  if ((resources?.length ?? 0) > 0) parts.push(['', plural(resources!.length, 'resource')]);
  if (environmentId !== 'default') parts.push(['environment', clipped(environmentId, 40)]);
  if (priority !== 5) parts.push(['priority', priority]);
  if (driver !== 'native') parts.push(['run by', <DriverRef key="d" driver={driver} engineRunRef={engineRunRef} />]);
  return (
    <ul className="flex flex-wrap gap-x-3 gap-y-0.5 text-xs">
      {parts.map(([name, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their places
        <li key={index}>
          {name !== '' && <span className="text-faint">{name} </span>}
          {value}
        </li>
      ))}
    </ul>
  );
}

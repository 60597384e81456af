// The chosen node: its attempts with what each was given, what it gave back, its error and its lines; why it was skipped, and
// which edges led here. On a narrow screen it is a sheet over the page.

import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../../component/button.tsx';
import { CopyButton } from '../../component/copy.tsx';
import { JsonTree } from '../../component/json-tree.tsx';
import { Pairs } from '../../component/page.tsx';
import { Answered } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Time, Took } from '../../component/time.tsx';
import { type NodeDetail, useNodeDetail } from '../../data/executions.ts';
import { rootOf } from '../../model/json-path.ts';
import { nodeInLoop } from '../../model/loop.ts';
import { skipReason } from '../../model/skip-reason.ts';
import { isEnded } from '../../model/status.ts';
import { clipped } from '../../model/text.ts';
import { durationText } from '../../model/time.ts';
import { EdgeList } from './edge-list.tsx';
import type { ExecutionView, GraphNodeJson } from './execution-view.ts';
import { LoopItems } from './loop-items.tsx';
import { NodeActions } from './node-actions.tsx';

export function NodePanel({ view }: { readonly view: ExecutionView }) {
  const node =
    view.graph.nodes.find(({ id }) => id === view.node) ??
    nodeInLoop(view.journal, view.node ?? '', view.at) ??
    undefined;
  return (
    <aside
      aria-label={`Node ${clipped(view.node ?? '', 60)}`}
      className="panel fixed inset-x-0 bottom-0 z-30 flex max-h-[75dvh] flex-col overflow-hidden rounded-b-none shadow-float lg:static lg:max-h-none lg:w-[26rem] lg:shrink-0 lg:rounded-lg lg:shadow-none xl:w-[30rem]"
    >
      <header className="flex items-center gap-2 border-b px-4 py-2">
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-semibold" title={clipped(view.node ?? '', 300)}>
            {clipped(view.node ?? '', 80)}
          </h2>
          {node !== undefined && <p className="truncate text-xs text-muted">{clipped(node.type, 120)}</p>}
        </div>
        {node !== undefined && <Status status={node.status} />}
        <IconButton label="Close the node" onClick={() => view.select(undefined)} className="-mr-2">
          <X className="size-4" aria-hidden="true" />
        </IconButton>
      </header>
      <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4">
        {node === undefined ? (
          <p className="text-muted">The plan has no such node.</p>
        ) : (
          <NodeBody node={node} view={view} />
        )}
      </div>
    </aside>
  );
}

function NodeBody({ node, view }: { readonly node: GraphNodeJson; readonly view: ExecutionView }) {
  const detail = useNodeDetail(view.execution.executionId, node.id, !isEnded(view.execution.status));
  return (
    <>
      {node.reason !== undefined && (
        <p className="rounded-md bg-idle-soft px-3 py-2">
          Skipped: <b>{skipReason(view.graph, node.id) ?? node.reason}</b>
        </p>
      )}
      <NodeActions node={node} view={view} />
      <EdgeList node={node} view={view} />
      <LoopItems node={node} view={view} />
      {node.childExecutionId !== undefined && (
        <Link to="/executions/$executionId" params={{ executionId: node.childExecutionId }} className="link">
          Open the execution that it started
        </Link>
      )}
      <Answered query={detail} what="the attempts" rows={3}>
        {(data) => <Attempts detail={data} node={node} view={view} />}
      </Answered>
    </>
  );
}

type Attempt = NodeDetail['attempts'][number];

function Attempts({
  detail,
  node,
  view,
}: {
  readonly detail: NodeDetail;
  readonly node: GraphNodeJson;
  readonly view: ExecutionView;
}) {
  // At an earlier fact, only what had begun by then.
  const attempts = view.at === undefined ? detail.attempts : detail.attempts.slice(0, node.attempts);
  const shown = attempts.find(({ attempt }) => attempt === view.attempt) ?? attempts.at(-1);
  if (shown === undefined) {
    const isQuiet = node.reason !== undefined || node.type === 'forEach' || node.type === 'repeat';
    return isQuiet ? null : <p className="text-muted">It has not started.</p>;
  }
  return (
    <>
      {attempts.length > 1 && (
        <div role="group" aria-label="Attempts" className="flex flex-wrap gap-1">
          {attempts.map(({ attempt, status }) => (
            <button
              key={attempt}
              type="button"
              aria-pressed={attempt === shown.attempt}
              onClick={() => view.select(node.id, attempt)}
              title={status}
              className="h-7 min-w-8 rounded-md border px-2 text-xs font-medium text-muted hover:bg-hover aria-pressed:border-accent! aria-pressed:text-accent"
            >
              {attempt}
            </button>
          ))}
        </div>
      )}
      <AttemptShown attempt={shown} nodeId={node.id} format={view.execution.format} />
    </>
  );
}

function AttemptShown({
  attempt,
  nodeId,
  format,
}: {
  readonly attempt: Attempt;
  readonly nodeId: string;
  readonly format: string;
}) {
  const { error, parameters, outputs, startedAt, completedAt, status, waitedMs, logs } = attempt;
  return (
    <>
      <Pairs
        pairs={[
          [
            'Attempt',
            `${attempt.attempt}, ${status === 'RetriableFailure' ? 'failed, tried again' : status.toLowerCase()}`,
          ],
          ['Started', startedAt === undefined ? undefined : <Time key="s" at={startedAt} as="clock" />],
          ['Waited', waitedMs === undefined ? undefined : `${durationText(waitedMs)} for a free place`],
          ['Ran', startedAt === undefined ? undefined : <Took key="t" from={startedAt} to={completedAt} />],
        ]}
      />
      {error !== undefined && (
        <Part title="Error" action={<CopyButton text={`${error.code}: ${error.message}`} label="Copy the error" />}>
          <div className="rounded-md bg-bad-soft px-3 py-2 text-bad">
            <code className="font-mono text-xs font-semibold">{error.code}</code>
            <p className="max-h-60 overflow-y-auto whitespace-pre-wrap wrap-anywhere">
              {clipped(error.message, 10_000)}
            </p>
          </div>
        </Part>
      )}
      <Part title="Input">
        {parameters === undefined ? (
          <p className="text-faint">None was recorded.</p>
        ) : (
          <JsonTree value={parameters} label="the input" />
        )}
      </Part>
      <Part title="Output">
        {outputs === undefined ? (
          <p className="text-faint">None.</p>
        ) : (
          <JsonTree value={outputs} root={`${rootOf(format)}.${nodeId}`} label="the output" />
        )}
      </Part>
      <Part title="Logs">
        {logs.length === 0 ? (
          <p className="text-faint">None.</p>
        ) : (
          <ul className="flex flex-col gap-0.5 font-mono text-xs">
            {logs.map(({ at, level, message }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines keep their order
              <li key={index} className="wrap-anywhere">
                <span className="text-faint">
                  <Time at={at} as="clock" />
                </span>{' '}
                <span
                  className={/^error/i.test(level) ? 'text-bad' : /^warn/i.test(level) ? 'text-warn' : 'text-muted'}
                >
                  {level}
                </span>{' '}
                {clipped(message, 2_000)}
              </li>
            ))}
          </ul>
        )}
      </Part>
    </>
  );
}

function Part({
  title,
  action,
  children,
}: {
  readonly title: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section>
      <header className="mb-1 flex items-center justify-between">
        <h3 className="heading">{title}</h3>
        {action}
      </header>
      {children}
    </section>
  );
}

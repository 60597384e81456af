// Errors on top: what failed, at which try and with what; choosing it shows the node. Also for tasks that failed although the
// execution went on: a pipeline that ended with failed tasks never looks simply green.

import { CircleAlert, Hand, Pause, RotateCw, Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { undoneText, waitText } from '../../../../src/protocol/step-text.ts';
import { Button } from '../../component/button.tsx';
import { Time } from '../../component/time.tsx';
import { isTrouble } from '../../model/status.ts';
import { clipped } from '../../model/text.ts';
import { ContinueWait } from './continue-wait.tsx';
import { type ExecutionView, failedNodes } from './execution-view.ts';

export function CauseBanner({ view }: { readonly view: ExecutionView }) {
  const undone = undoneText(view.execution.compensation);
  return (
    <>
      <Cause view={view} />
      {undone !== null && (
        <Banner tone={undone.tone} icon={<Undo2 className="size-4" />}>
          {clipped(undone.text, 400)}
        </Banner>
      )}
    </>
  );
}

function Cause({ view }: { readonly view: ExecutionView }) {
  const { error, status } = view.execution;
  if (error !== undefined && status !== 'Succeeded') return <ErrorBanner view={view} />;
  return (
    <>
      <FailedBanner view={view} />
      {status === 'Paused' ? (
        <Banner tone="warn" icon={<Pause className="size-4" />}>
          Paused: what is in flight finishes, nothing new starts until it is resumed.
        </Banner>
      ) : (
        <WaitBanner view={view} />
      )}
    </>
  );
}

/** Nodes that failed although the execution goes on, or went on to its end. */
function FailedBanner({ view }: { readonly view: ExecutionView }) {
  const failed = failedNodes(view);
  const [first] = failed;
  if (first === undefined) return null;
  const names = failed.slice(0, 4).map(({ id }) => clipped(id, 40));
  const more = failed.length > names.length ? ` and ${failed.length - names.length} more` : '';
  return (
    <Banner
      tone="warn"
      action={
        <Button small onClick={() => view.select(first.id)}>
          Show
        </Button>
      }
    >
      <b>
        {names.join(', ')}
        {more}
      </b>{' '}
      failed; the others went on.{' '}
      {first.error !== undefined && `${first.error.code}: ${clipped(first.error.message, 300)}`}
    </Banner>
  );
}

function WaitBanner({ view }: { readonly view: ExecutionView }) {
  const { graph, journal } = view;
  const waiting = graph.nodes.find(
    ({ status }) => status === 'Waiting' || status === 'Sleeping' || status === 'Retrying',
  );
  if (waiting === undefined) return null;
  const { id, status, error, startedAt, until } = waiting;
  const step = journal.plan.nodes.find((node) => node.id === id)?.step;
  const isRetry = status === 'Retrying';
  return (
    <Banner
      tone={isRetry ? 'warn' : 'wait'}
      icon={isRetry ? <RotateCw className="size-4" /> : <Hand className="size-4" />}
      action={
        <>
          {status === 'Waiting' && <ContinueWait node={waiting} view={view} />}
          <Button small onClick={() => view.select(id)}>
            Show
          </Button>
        </>
      }
    >
      <b>{clipped(id, 60)}</b> {status === 'Waiting' ? waitText(step) : WAITS[status]}
      {error !== undefined && ` (${error.code}: ${clipped(error.message, 200)})`}
      {startedAt !== undefined && !isRetry && (
        <>
          , since <Time at={startedAt} />
        </>
      )}
      {until !== undefined && (
        <>
          , {isRetry ? 'next try' : status === 'Sleeping' ? 'wakes' : 'times out'} <Time at={until} />
        </>
      )}
    </Banner>
  );
}

const WAITS: Readonly<Record<string, string>> = {
  Sleeping: 'sleeps',
  Retrying: 'failed and will be tried again',
};

function ErrorBanner({ view }: { readonly view: ExecutionView }) {
  const { error, status } = view.execution;
  const node = view.graph.nodes.find(({ id }) => id === error?.nodeId);
  const show =
    error?.nodeId === undefined ? undefined : (
      <Button small onClick={() => view.select(error.nodeId)}>
        Show
      </Button>
    );
  return (
    <Banner tone={isTrouble(status) ? 'bad' : 'warn'} action={show}>
      <b>{error!.nodeId === undefined ? 'The execution' : clipped(error!.nodeId, 60)}</b>{' '}
      {status === 'Cancelled' ? 'was cancelled' : status === 'TimedOut' ? 'ran out of time' : 'failed'}
      {node !== undefined && node.attempts > 1 && `, at attempt ${node.attempts}`}:{' '}
      <code className="font-mono text-xs">{error!.code}</code>{' '}
      <span className="wrap-anywhere">{clipped(error!.message, 600)}</span>
    </Banner>
  );
}

const TONES = {
  ok: 'border-ok-solid/40 bg-ok-soft text-ok',
  bad: 'border-bad-solid/40 bg-bad-soft text-bad',
  warn: 'border-warn-solid/40 bg-warn-soft text-warn',
  wait: 'border-wait-solid/40 bg-wait-soft text-wait',
} as const;

function Banner({
  tone,
  icon,
  action,
  children,
}: {
  readonly tone: keyof typeof TONES;
  readonly icon?: ReactNode;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div role="status" className={`flex flex-wrap items-center gap-2.5 rounded-lg border px-3 py-2 ${TONES[tone]}`}>
      <span className="shrink-0 self-start pt-1" aria-hidden="true">
        {icon ?? <CircleAlert className="size-4" />}
      </span>
      <p className="min-w-0 flex-1 basis-48">{children}</p>
      {action}
    </div>
  );
}

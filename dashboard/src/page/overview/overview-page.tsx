// The overview answers in five seconds: is it well, what needs me, since when, and what comes next. Every number opens its list.

import { Link } from '@tanstack/react-router';
import { Activity, CircleAlert, Hand, Hourglass, MailX, Moon, RotateCw } from 'lucide-react';
import type { ComponentType } from 'react';
import { Page, Panel } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Status } from '../../component/status.tsx';
import { Time, useNow } from '../../component/time.tsx';
import { useConsumers } from '../../data/deliveries.ts';
import { useLive } from '../../data/live.ts';
import { type Tally, useTally } from '../../data/overview.ts';
import { useTriggers } from '../../data/triggers.ts';
import { type ExecutionFilter, searchOfFilter } from '../../model/execution-filter.ts';
import type { Tone } from '../../model/status.ts';
import { clipped, countText } from '../../model/text.ts';
import { triggerText } from '../../model/trigger-text.ts';
import { Causes } from './causes.tsx';
import { FirstSteps } from './first-steps.tsx';
import { HourPanel } from './hour-panel.tsx';
import { Latest } from './latest.tsx';

interface Figure {
  readonly label: string;
  readonly filter: ExecutionFilter;
  readonly icon: ComponentType<{ className?: string }>;
  readonly tone: Tone;
}

const FIGURES: readonly Figure[] = [
  {
    label: 'failed, last hour',
    filter: { status: ['Failed', 'TimedOut'], since: '1h' },
    icon: CircleAlert,
    tone: 'bad',
  },
  { label: 'retrying', filter: { why: 'retrying' }, icon: RotateCw, tone: 'warn' },
  { label: 'queued', filter: { why: 'queued' }, icon: Hourglass, tone: 'idle' },
  { label: 'running', filter: { why: 'running' }, icon: Activity, tone: 'run' },
  { label: 'waiting', filter: { why: 'waiting' }, icon: Hand, tone: 'wait' },
  { label: 'sleeping', filter: { why: 'sleeping' }, icon: Moon, tone: 'wait' },
];

export function OverviewPage() {
  const { health } = useLive();
  return (
    <Page title="Overview" actions={health !== null && <Status status={health.status} />}>
      <FirstSteps />
      <ul className="grid grid-cols-2 gap-3 md:grid-cols-4 xl:grid-cols-7" aria-label="Now">
        {FIGURES.map((figure) => (
          <FigureTile key={figure.label} figure={figure} />
        ))}
        <DeadLetterTile />
      </ul>
      <HourPanel />
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <Causes />
          <LateConsumers />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Next />
          <Latest />
        </div>
      </div>
    </Page>
  );
}

const TILE_TONE: Readonly<Record<Tone, string>> = {
  ok: 'text-ok',
  bad: 'text-bad',
  warn: 'text-warn',
  run: 'text-run',
  wait: 'text-wait',
  idle: 'text-idle',
};

/** What is live comes with the stream; what has ended is counted. */
function useFigure({ filter }: Figure): Tally | undefined {
  const { now } = useLive();
  const isLive = filter.why !== undefined;
  const counted = useTally(filter, !isLive);
  if (!isLive) return counted;
  const count = now?.live[filter.why as keyof typeof now.live];
  return count === undefined ? undefined : { count, isCapped: count >= MOST_LIVE };
}

const MOST_LIVE = 10_000;

function FigureTile({ figure }: { readonly figure: Figure }) {
  const { label, filter, icon: Icon, tone } = figure;
  const tally = useFigure(figure);
  const { now } = useLive();
  return (
    <li>
      <Link
        to="/executions"
        search={searchOfFilter(filter)}
        className="panel flex h-full flex-col gap-1 p-3.5 hover:border-line-strong"
      >
        <span
          className={`flex items-center gap-1.5 text-xs ${(tally?.count ?? 0) > 0 ? TILE_TONE[tone] : 'text-muted'}`}
        >
          <Icon className="size-3.5" aria-hidden="true" />
          {label}
        </span>
        <span className="tabular text-xl font-semibold">
          {tally === undefined ? '…' : countText(tally.count, tally.isCapped)}
        </span>
        {filter.why === 'queued' && now?.oldestQueuedAt !== undefined && (
          <span className="text-2xs text-muted">
            oldest <Time at={now.oldestQueuedAt} />
          </span>
        )}
      </Link>
    </li>
  );
}

function DeadLetterTile() {
  const { now } = useLive();
  const count = now?.deadLetters;
  return (
    <li>
      <Link
        to="/operations"
        search={{ tab: 'dead-letters' }}
        className="panel flex h-full flex-col gap-1 p-3.5 hover:border-line-strong"
      >
        <span className={`flex items-center gap-1.5 text-xs ${(count ?? 0) > 0 ? 'text-bad' : 'text-muted'}`}>
          <MailX className="size-3.5" aria-hidden="true" />
          dead letters
        </span>
        <span className="tabular text-xl font-semibold">
          {count === undefined ? '…' : countText(count, count >= 1_000)}
        </span>
      </Link>
    </li>
  );
}

const LATE_MS = 300_000;

/** Consumers with dead or failed messages, or with one that nobody has confirmed for minutes. Nothing where all is well. */
function LateConsumers() {
  const now = useNow(30_000);
  const late = (useConsumers().data ?? []).filter(({ backlog }) => {
    if (backlog === undefined) return false;
    const { dead, failed, oldestAt } = backlog;
    return dead + failed > 0 || (oldestAt !== undefined && now - Date.parse(oldestAt) > LATE_MS);
  });
  if (late.length === 0) return null;
  return (
    <Panel title="Consumers that are late">
      <ul className="divide-y">
        {late.map(({ code, backlog }) => (
          <li key={code} className="flex flex-wrap items-center gap-x-3 px-4 py-2">
            <Link
              to="/consumers/$code"
              params={{ code }}
              className="min-w-0 flex-1 truncate font-medium hover:text-accent"
            >
              {clipped(code, 60)}
            </Link>
            <span className="text-xs text-muted">
              {countText(backlog!.pending, backlog!.pending >= MOST_LIVE)} unconfirmed
              {backlog!.oldestAt !== undefined && ', oldest '}
              {backlog!.oldestAt !== undefined && <Time at={backlog!.oldestAt} />}
            </span>
            {backlog!.dead > 0 && (
              <Link to="/messages" search={{ consumer: code, stage: 'Dead' }} className="text-xs font-medium text-bad">
                {countText(backlog!.dead, backlog!.dead >= MOST_LIVE)} dead
              </Link>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Next() {
  const triggers = useTriggers({ isEnabled: true });
  return (
    <Panel
      title="Runs next"
      actions={
        <Link to="/triggers" className="link text-xs">
          All triggers
        </Link>
      }
    >
      <Answered query={triggers} what="the schedules">
        {(list) => {
          const next = list
            .flatMap((trigger) => (trigger.nextFireTimes ?? []).slice(0, 2).map((at) => ({ trigger, at })))
            .toSorted((a, b) => a.at.localeCompare(b.at))
            .slice(0, 8);
          if (next.length === 0)
            return (
              <Empty title="Nothing is scheduled">A trigger of type Schedule starts a workflow by the clock.</Empty>
            );
          return (
            <ul className="divide-y">
              {next.map(({ trigger, at }) => (
                <li key={`${trigger.id} ${at}`} className="flex items-center gap-3 px-4 py-2">
                  <Link
                    to="/workflows/$workflowId"
                    params={{ workflowId: trigger.workflowId }}
                    className="min-w-0 flex-1 truncate font-medium hover:text-accent"
                  >
                    {clipped(trigger.workflowId, 60)}
                  </Link>
                  <span className="font-mono text-xs text-faint max-sm:hidden">{triggerText(trigger)}</span>
                  <Time at={at} as="clock" />
                  <span className="w-14 text-right text-xs text-muted">
                    <Time at={at} />
                  </span>
                </li>
              ))}
            </ul>
          );
        }}
      </Answered>
    </Panel>
  );
}

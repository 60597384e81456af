// A status as an icon, a word and a colour, in this order of importance.

import {
  Ban,
  Check,
  CircleAlert,
  Clock,
  Hand,
  Hourglass,
  LoaderCircle,
  Moon,
  Pause,
  RotateCw,
  SkipForward,
  X,
} from 'lucide-react';
import type { ComponentType } from 'react';
import { type StatusIcon, type StatusLook, statusLook, type Tone } from '../model/status.ts';

const ICONS: Readonly<Record<StatusIcon, ComponentType<{ className?: string }>>> = {
  check: Check,
  cross: X,
  alert: CircleAlert,
  spinner: LoaderCircle,
  clock: Clock,
  moon: Moon,
  hand: Hand,
  pause: Pause,
  skip: SkipForward,
  stop: Ban,
  queue: Hourglass,
  retry: RotateCw,
};

export const TEXT_TONE: Readonly<Record<Tone, string>> = {
  ok: 'text-ok',
  bad: 'text-bad',
  warn: 'text-warn',
  run: 'text-run',
  wait: 'text-wait',
  idle: 'text-idle',
};

export const SOFT_TONE: Readonly<Record<Tone, string>> = {
  ok: 'bg-ok-soft text-ok',
  bad: 'bg-bad-soft text-bad',
  warn: 'bg-warn-soft text-warn',
  run: 'bg-run-soft text-run',
  wait: 'bg-wait-soft text-wait',
  idle: 'bg-idle-soft text-idle',
};

export const SOLID_TONE: Readonly<Record<Tone, string>> = {
  ok: 'bg-ok-solid',
  bad: 'bg-bad-solid',
  warn: 'bg-warn-solid',
  run: 'bg-run-solid',
  wait: 'bg-wait-solid',
  idle: 'bg-idle-solid',
};

export function StatusIconOf({
  look,
  className = 'size-3.5',
}: {
  readonly look: StatusLook;
  readonly className?: string;
}) {
  const Icon = ICONS[look.icon];
  return (
    <span className={`inline-flex shrink-0 ${TEXT_TONE[look.tone]}`} aria-hidden="true">
      <Icon className={`${className} ${look.icon === 'spinner' ? 'animate-spin' : ''}`} />
    </span>
  );
}

interface StatusProps {
  readonly status?: string;
  readonly look?: StatusLook;
  /** `badge` stands alone, `line` among other text. */
  readonly as?: 'badge' | 'line';
}

export function Status({ status = '', look = statusLook(status), as = 'badge' }: StatusProps) {
  if (as === 'line') {
    return (
      <span className={`inline-flex items-center gap-1.5 whitespace-nowrap ${TEXT_TONE[look.tone]}`}>
        <StatusIconOf look={look} />
        {look.word}
      </span>
    );
  }
  return (
    <span
      className={`inline-flex h-5.5 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap ${SOFT_TONE[look.tone]}`}
    >
      <StatusIconOf look={look} className="size-3" />
      {look.word}
    </span>
  );
}

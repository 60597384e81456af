// What a status looks like: a word, a tone and an icon's name. Status is never told by colour alone.

export type Tone = 'ok' | 'bad' | 'warn' | 'run' | 'wait' | 'idle';

export type StatusIcon =
  | 'check'
  | 'cross'
  | 'alert'
  | 'spinner'
  | 'clock'
  | 'moon'
  | 'hand'
  | 'pause'
  | 'skip'
  | 'stop'
  | 'queue'
  | 'retry';

export interface StatusLook {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: StatusIcon;
}

const look = (word: string, tone: Tone, icon: StatusIcon): StatusLook => ({ word, tone, icon });

const LOOKS: Readonly<Record<string, StatusLook>> = {
  Pending: look('Pending', 'idle', 'queue'),
  Running: look('Running', 'run', 'spinner'),
  Paused: look('Paused', 'warn', 'pause'),
  Succeeded: look('Succeeded', 'ok', 'check'),
  Failed: look('Failed', 'bad', 'cross'),
  Cancelled: look('Cancelled', 'idle', 'stop'),
  TimedOut: look('Timed out', 'bad', 'clock'),
  Retrying: look('Retrying', 'warn', 'retry'),
  RetriableFailure: look('Failed, tried again', 'warn', 'retry'),
  Sleeping: look('Sleeping', 'wait', 'moon'),
  Waiting: look('Waiting', 'wait', 'hand'),
  Skipped: look('Skipped', 'idle', 'skip'),
  queued: look('Queued', 'idle', 'queue'),
  delayed: look('Delayed by a rate limit', 'wait', 'clock'),
  noWorker: look('No runner', 'bad', 'alert'),
  needsNewerRunner: look('Needs a newer runner', 'bad', 'alert'),
  running: look('Running', 'run', 'spinner'),
  retrying: look('Retrying', 'warn', 'retry'),
  waiting: look('Waiting', 'wait', 'hand'),
  sleeping: look('Sleeping', 'wait', 'moon'),
  paused: look('Paused', 'warn', 'pause'),
  Draft: look('Draft', 'warn', 'pause'),
  Active: look('Active', 'ok', 'check'),
  Archived: look('Archived', 'idle', 'stop'),
  Delivered: look('Delivered', 'run', 'check'),
  Processed: look('Processed', 'ok', 'check'),
  Dead: look('Dead', 'bad', 'cross'),
  live: look('Live', 'ok', 'check'),
  draining: look('Draining', 'warn', 'pause'),
  stopped: look('Stopped', 'idle', 'stop'),
  dead: look('Dead', 'bad', 'cross'),
  healthy: look('Healthy', 'ok', 'check'),
  degraded: look('Degraded', 'warn', 'alert'),
  unhealthy: look('Unhealthy', 'bad', 'cross'),
  started: look('Started', 'ok', 'check'),
  condition_false: look('Condition false', 'idle', 'skip'),
  skipped: look('Skipped', 'idle', 'skip'),
  failed: look('Failed', 'bad', 'cross'),
};

export function statusLook(status: string): StatusLook {
  return Object.hasOwn(LOOKS, status) ? LOOKS[status]! : look(status, 'idle', 'queue');
}

const ENDED = new Set(['Succeeded', 'Failed', 'Cancelled', 'TimedOut']);

export const isEnded = (status: string): boolean => ENDED.has(status);

export const isTrouble = (status: string): boolean => status === 'Failed' || status === 'TimedOut';

/**
 * How an execution looks in one word. A live one says what it waits for. A pipeline that ended although tasks failed is never
 * simply green.
 */
export function executionLook(
  execution: { readonly status: string; readonly why?: string | undefined },
  failedNodes = 0,
): StatusLook {
  if (execution.status === 'Succeeded' && failedNodes > 0) {
    return look(`Completed, ${failedNodes} failed`, 'warn', 'alert');
  }
  const isLive = execution.status === 'Running' || execution.status === 'Pending';
  return statusLook(isLive && execution.why !== undefined ? execution.why : execution.status);
}

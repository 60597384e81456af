// Log lines of `ctx.log`. They are collected per attempt and stored with its result, so they are capped (one attempt must not
// fill the table), cleaned for a `text` column, and free of the attempt's secrets (S6). Lines after the end of the attempt are
// dropped, because nothing would store them.

import { cleanMessage } from '../core/error/message.ts';
import type { Redactor } from './redact.ts';

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LogLine {
  readonly at: number;
  readonly level: LogLevel;
  readonly message: string;
  /** JSON text. */
  readonly data: string | null;
}

export type ActionLog = Readonly<Record<LogLevel, (message: string, data?: unknown) => void>>;

/** Told of the lines of an attempt when the first one is written; the array grows. What it returns is called when the attempt ends. */
export type FollowLines = (lines: readonly LogLine[]) => () => void;

export interface LogCollector {
  readonly log: ActionLog;
  /** Lines after this are dropped. */
  close(): readonly LogLine[];
}

const MAX_LINES = 200;
const MAX_LINE_LENGTH = 4096;

export function createLogCollector(options: {
  now: () => number;
  redactor: Redactor;
  follow?: FollowLines | undefined;
}): LogCollector {
  const lines: LogLine[] = [];
  let unfollow: (() => void) | undefined;
  let dropped = 0;
  let closed = false;

  const write = (level: LogLevel, message: string, data: unknown): void => {
    if (closed) return;
    if (lines.length >= MAX_LINES) {
      dropped += 1;
      return;
    }
    lines.push({
      at: options.now(),
      level,
      message: cleanMessage(options.redactor.redact(String(message)), MAX_LINE_LENGTH),
      data: data === undefined ? null : dataText(data, options.redactor),
    });
    if (lines.length === 1) unfollow = options.follow?.(lines);
  };

  return {
    log: {
      debug: (message, data) => write('debug', message, data),
      info: (message, data) => write('info', message, data),
      warn: (message, data) => write('warn', message, data),
      error: (message, data) => write('error', message, data),
    },
    close() {
      if (!closed && dropped > 0) {
        lines.push({ at: options.now(), level: 'warn', message: `… (${dropped} more lines)`, data: null });
      }
      if (!closed) unfollow?.();
      closed = true;
      return lines;
    },
  };
}

/** Never throws: a line whose data cannot be kept still has its message. */
function dataText(data: unknown, redactor: Redactor): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(data);
  } catch {
    return '"[not JSON]"';
  }
  if (text === undefined) return '"[not JSON]"';
  if (text.length > MAX_LINE_LENGTH) return JSON.stringify(cleanMessage(redactor.redact(text), MAX_LINE_LENGTH));
  return redactor.redactJson(text);
}

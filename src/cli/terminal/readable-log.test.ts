import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../telemetry/log.ts';
import { readableLog } from './readable-log.ts';

afterEach(() => void vi.unstubAllEnvs());

function logged(isTTY: boolean, term = 'xterm'): string {
  vi.stubEnv('TERM', term);
  vi.stubEnv('NO_COLOR', '1');
  let written = '';
  const stream = {
    isTTY,
    write: (text: string) => {
      written += text;
    },
  };
  const log = createLog('warn', readableLog(stream as unknown as NodeJS.WriteStream));
  log.warn('attempt failed', {
    TenantId: 'default',
    WorkflowId: 'trip',
    NodeId: 'book',
    Attempt: 1,
    Stack: '    at run (a.ts:7:1)\n    at b',
  });
  return written;
}

describe('the log of pawl dev', () => {
  it.each([
    ['a terminal', true, 'xterm'],
    ['a pipe', false, 'xterm'],
    ['a dumb terminal', true, 'dumb'],
  ])('a log line is short in %s, and shows where an action threw', (_where, isTTY, term) => {
    expect(logged(isTTY, term)).toMatch(
      /^\d\d:\d\d:\d\d attempt failed {2}trip\/book {2}Attempt 1\n {4}at run \(a\.ts:7:1\)\n {4}at b\n$/,
    );
  });
});

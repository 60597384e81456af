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
    NodeId: 'book',
    Attempt: 1,
    Stack: '    at run (a.ts:7:1)\n    at b',
  });
  return written;
}

describe('the log of pawl dev', () => {
  it('is a short line in a terminal, with the place where an action threw', () => {
    expect(logged(true)).toMatch(
      /^\d\d:\d\d:\d\d attempt failed {2}NodeId book {2}Attempt 1\n {4}at run \(a\.ts:7:1\)\n {4}at b\n$/,
    );
  });

  it.each([
    ['a pipe', false, 'xterm'],
    ['a dumb terminal', true, 'dumb'],
  ])('is JSON in %s', (_where, isTTY, term) => {
    expect(JSON.parse(logged(isTTY, term))).toMatchObject({ message: 'attempt failed', NodeId: 'book', Attempt: 1 });
  });
});

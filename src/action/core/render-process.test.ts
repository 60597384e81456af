// A rendering process that its parent has forgotten: it must not stay.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { READY, type RenderJob } from './render-job.ts';

async function orphan() {
  const options = {
    allowLoops: true,
    strict: true,
    nullText: '',
    timeoutMs: 50,
    memoryMb: 64,
    outputLimitBytes: 1_000,
  };
  const child = fork(new URL('./render-program.ts', import.meta.url), [JSON.stringify(options)], { execArgv: [] });
  expect(await once(child, 'message')).toEqual([READY, undefined]);
  return child;
}

describe('a rendering process', () => {
  it('ends itself when its job does not end and nobody stops it', async () => {
    const child = await orphan();
    const exit = once(child, 'exit');
    const schema = JSON.stringify({ type: 'string', pattern: '^(a+)+$' });
    const endless: RenderJob = { kind: 'checkValue', schema, value: JSON.stringify(`${'a'.repeat(50)}!`) };
    child.send(endless);
    expect(await exit).toEqual([null, 'SIGKILL']);
  });

  it('ends when its parent is gone', async () => {
    const child = await orphan();
    const exit = once(child, 'exit');
    child.disconnect();
    expect(await exit).toEqual([0, null]);
  });
});

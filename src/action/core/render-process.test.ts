// A rendering process without a parent must end. A process that gets no CPU time is not its job's fault.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { READY, type RenderJob } from './render-job.ts';
import { RenderProcess } from './render-process.ts';

const options = {
  allowLoops: true,
  strict: true,
  nullText: '',
  timeoutMs: 50,
  memoryMb: 64,
  outputLimitBytes: 1_000,
};

async function orphan() {
  const child = fork(new URL('./render-program.ts', import.meta.url), [JSON.stringify(options)], { execArgv: [] });
  expect(await once(child, 'message')).toEqual([READY, undefined]);
  return child;
}

describe('a rendering process', () => {
  it('a rendering process kills itself when its job never ends', async () => {
    const child = await orphan();
    const exit = once(child, 'exit');
    const schema = JSON.stringify({ type: 'string', pattern: '^(a+)+$' });
    const endless: RenderJob = { kind: 'checkValue', schema, value: JSON.stringify(`${'a'.repeat(50)}!`) };
    child.send(endless);
    expect(await exit).toEqual([null, 'SIGKILL']);
  });

  it('a rendering process ends when its parent is gone', async () => {
    const child = await orphan();
    const exit = once(child, 'exit');
    child.disconnect();
    expect(await exit).toEqual([0, null]);
  });
});

describe.runIf(process.platform === 'linux')('a job whose process gets no CPU time', () => {
  const children = () => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1').split(' ');
  const check: RenderJob = { kind: 'checkBody', body: '{{ title }}' };
  const limitMs = 300;

  it('time without the CPU does not count toward the timeout of a job', async () => {
    const before = children();
    const renderer = new RenderProcess({ ...options, timeoutMs: limitMs });
    const [pid] = children().filter((child) => !before.includes(child));
    expect(await renderer.run(check)).toEqual({ kind: 'checked', problems: [] });
    process.kill(Number(pid), 'SIGSTOP');
    const outcome = renderer.run(check);
    await wait(2 * limitMs);
    process.kill(Number(pid), 'SIGCONT');
    expect(await outcome).toEqual({ kind: 'checked', problems: [] });
    await renderer.stop();
  });
});

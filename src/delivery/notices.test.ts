import { describe, expect, it } from 'vitest';
import { type HandTimers, handTimers, settled } from '../clock/hand-timers.testing.ts';
import type { Notice } from '../lifecycle/machine/decision.ts';
import type { NewNotice, NoticeRow } from '../store/delivery-port.ts';
import { Notices } from './notices.ts';

const rejected: Notice = { kind: 'TransitionRejected', message: 'no', details: { event: 'approve' } };

function setup(noticeAdd?: (notices: NewNotice[]) => Promise<void>) {
  const timers: HandTimers = handTimers();
  const rows: NoticeRow[] = [];
  const warnings: string[] = [];
  const logged: string[] = [];
  const batches: number[] = [];
  const notices = new Notices({
    store: {
      async noticeAdd({ notices: added }) {
        batches.push(added.length);
        await noticeAdd?.(added);
        for (const notice of added) rows.push({ ...notice, id: String(rows.length + 1) });
        return rows.slice(rows.length - added.length).map(({ id }) => id);
      },
      noticeGet: async ({ noticeIds }) => rows.filter(({ id }) => noticeIds.includes(id)),
      async noticeList({ tenantId, afterId, limit }) {
        const own = rows.filter((row) => row.tenantId === tenantId);
        return afterId === null
          ? own.slice(-limit)
          : own.filter(({ id }) => Number(id) > Number(afterId)).slice(0, limit);
      },
    },
    timers,
    wallClockMs: () => 1_000,
    observer: { warn: (event, details) => void warnings.push(`${event} ${JSON.stringify(details)}`) },
    log: ({ kind }) => void logged.push(kind),
  });
  return { notices, timers, rows, warnings, logged, batches };
}

describe('notices', () => {
  it('notices are announced and logged at once, and written a little later in batches', async () => {
    const { notices, timers, logged, batches } = setup();
    const told: string[] = [];
    const off = notices.onNotice(({ kind, tenantId, at }) => void told.push(`${kind} ${tenantId} ${at}`));
    notices.raise('acme', [rejected, rejected]);
    notices.raise('acme', [rejected]);
    expect(told).toEqual(Array.from({ length: 3 }, () => 'TransitionRejected acme 1000'));
    expect(logged).toHaveLength(3);
    expect(batches).toEqual([]);
    timers.advance(100);
    await settled();
    expect(batches).toEqual([3]);
    off();
    notices.raise('acme', [rejected]);
    expect(told).toHaveLength(3);
    await notices.flush();
    expect(await notices.list('acme', { afterId: null, limit: 1 })).toEqual([
      { id: '4', at: 1_000, kind: 'TransitionRejected', message: 'no', details: { event: 'approve' } },
    ]);
    expect(timers.pending).toBe(0);
  });

  it('followers get the notices of their tenant from now on, until the signal', async () => {
    const { notices } = setup();
    notices.raise('acme', [rejected]);
    await notices.flush();
    const gone = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const page of notices.follow('acme', null, gone.signal)) {
        seen.push(...page.map(({ id }) => id));
        if (seen.length === 1) gone.abort();
      }
    })();
    await settled();
    notices.raise('other', [rejected]);
    notices.raise('acme', [rejected]);
    await notices.flush();
    await following;
    expect(seen).toEqual(['3']);
  });

  it('notices of other processes are found by polling', async () => {
    const { notices, timers, rows } = setup();
    const gone = new AbortController();
    const pages = notices.follow('acme', '0', gone.signal);
    expect((await pages.next()).value).toEqual([]);
    const next = pages.next();
    rows.push({ id: '1', tenantId: 'acme', kind: 'X', body: '{"message":"m","details":{}}', at: 5 });
    await settled();
    timers.advance(1_000);
    expect((await next).value).toMatchObject([{ id: '1', kind: 'X' }]);
    gone.abort();
    expect((await pages.next()).done).toBe(true);
  });

  it('notices that cannot be written cause a warning with their number', async () => {
    const { notices, warnings } = setup(() => Promise.reject(new Error('the database is away')));
    notices.raise('acme', [rejected, rejected]);
    await notices.flush();
    expect(warnings.join()).toContain('the database is away');
    expect(warnings.join()).toContain('{"count":2}');
  });

  it('a listener that throws does not keep a notice from the others and the table', async () => {
    const { notices, rows, warnings } = setup();
    notices.onNotice(() => {
      throw new Error('mine');
    });
    notices.raise('acme', [rejected]);
    await notices.flush();
    expect(rows).toHaveLength(1);
    expect(warnings.join()).toContain('mine');
  });
});

import { describe, expect, it } from 'vitest';
import { handTimers } from '../clock/hand-timers.testing.ts';
import type { LiveNow } from '../store/reader-port.ts';
import type { ExecutionLists } from './execution-lists.ts';
import { LiveBoard, type LiveSample } from './live-board.ts';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function setup() {
  const timers = handTimers();
  const asked = { samples: 0, health: 0, rows: [] as (readonly string[])[] };
  const state = { hasRunner: true };
  const board = new LiveBoard({
    timers,
    wallClockMs: () => timers.monotonicMs(),
    sample: async () => {
      asked.samples++;
      return { hasRunner: state.hasRunner } as LiveNow;
    },
    health: async () => {
      asked.health++;
      return state.hasRunner ? { status: 'healthy', reasons: [] } : { status: 'degraded', reasons: ['no runner'] };
    },
    lists: {
      rowsOf: async (_tenantId: string, ids: readonly string[]) => {
        asked.rows.push(ids);
        return [];
      },
    } as unknown as ExecutionLists,
  });
  const open = (watch: readonly string[] = []) => {
    const stop = new AbortController();
    const seen: LiveSample[] = [];
    const over = (async () => {
      for await (const sample of board.follow('acme', watch, stop.signal)) seen.push(sample);
    })();
    return { seen, stop: () => stop.abort(), over };
  };
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 50) {
      timers.advance(Math.min(50, left));
      await settled();
    }
  };
  return { timers, asked, state, open, pass };
}

describe('the live board of a tenant', () => {
  it('the board takes one sample every two seconds for fifty viewers', async () => {
    const { asked, open, pass } = setup();
    const tabs = [];
    for (let index = 0; index < 50; index++) {
      tabs.push(open());
      await pass(150);
    }
    await pass(2_000);
    asked.samples = 0;
    const before = tabs.map(({ seen }) => seen.length);
    await pass(20_000);
    expect(asked.samples).toBe(10);
    expect(tabs.map(({ seen }, index) => seen.length - before[index]!)).toEqual(Array(50).fill(10));
  });

  it('a new viewer sees a sample at once, and viewers who come together share it', async () => {
    const { asked, open, pass } = setup();
    const first = open();
    await pass(50);
    expect(first.seen).toHaveLength(1);
    asked.samples = 0;
    const tabs = Array.from({ length: 50 }, () => open());
    await pass(300);
    expect(tabs.every(({ seen }) => seen.length === 1)).toBe(true);
    expect(asked.samples).toBe(1);
  });

  it('the board reads all watched executions, and nothing after all viewers left', async () => {
    const { timers, asked, open, pass } = setup();
    const tabs = [open(['a']), open(['b', 'a'])];
    await pass(300);
    expect(asked.rows.at(-1)).toEqual(['a', 'b']);
    for (const { stop } of tabs) stop();
    await Promise.all(tabs.map(({ over }) => over));
    await pass(4_000);
    expect(timers.pending).toBe(0);
  });

  it('the board reads health every fifteen seconds, and at once when the last runner is gone', async () => {
    const { asked, state, open, pass } = setup();
    const { seen } = open();
    await pass(9_000);
    expect(asked.health).toBe(1);
    state.hasRunner = false;
    await pass(2_000);
    expect(seen.at(-1)!.health.reasons).toEqual(['no runner']);
    expect(asked.health).toBe(2);
  });
});

import { describe, expect, it } from 'vitest';
import { partOf, placeOf, ticksOf, timelineOf } from './waterfall.ts';

const node = (id: string, type = 'core.echo', status = 'Succeeded') => ({ id, type, status });

describe('the timeline', () => {
  it('tells tries, back-off and queue wait apart, from true times', () => {
    const { rows, from, to } = timelineOf(
      {
        nodes: [node('late'), node('charge', 'http.request', 'Succeeded'), node('never')],
        attempts: [
          { nodeId: 'charge', attempt: 2, status: 'Succeeded', startedAt: 500, endedAt: 700, waitedMs: 50 },
          { nodeId: 'charge', attempt: 1, status: 'RetriableFailure', startedAt: 100, endedAt: 200 },
          { nodeId: 'late', attempt: 1, status: 'Running', startedAt: 800 },
        ],
        createdAt: 90,
      },
      1_000,
    );
    expect({ from, to, ids: rows.map(({ nodeId }) => nodeId) }).toEqual({
      from: 90,
      to: 1_000,
      ids: ['charge', 'late'],
    });
    expect(rows[0]!.segments.map(({ kind, from: start, to: end }) => [kind, start, end])).toEqual([
      ['failed', 100, 200],
      ['backoff', 200, 500],
      ['queued', 500, 550],
      ['ran', 550, 700],
    ]);
    expect(rows[1]!.segments).toMatchObject([{ kind: 'ran', to: 1_000, isOpen: true }]);
  });

  it('shows sleeps and waits as rest, and the nodes of loops that the plan does not list', () => {
    const attempts = [
      { nodeId: 'nap', attempt: 1, status: 'Sleeping', startedAt: 10 },
      { nodeId: 'each[3]', attempt: 1, status: 'Succeeded', startedAt: 20, endedAt: 30 },
    ];
    const { rows } = timelineOf({ nodes: [node('nap', 'sleep', 'Sleeping')], attempts, createdAt: 0, endedAt: 50 }, 99);
    expect(rows.map(({ nodeId, segments }) => [nodeId, segments[0]!.kind])).toEqual([
      ['nap', 'rest'],
      ['each[3]', 'ran'],
    ]);
  });

  it('places a segment within its span, and the axis in round steps', () => {
    expect(placeOf({ from: 25, to: 50 }, { from: 0, to: 100 })).toEqual({ left: 25, width: 25 });
    expect(placeOf({ from: -10, to: 500 }, { from: 0, to: 100 })).toEqual({ left: 0, width: 100 });
    expect(ticksOf({ from: 0, to: 2_000 })).toEqual([500, 1_000, 1_500]);
  });

  it('is looked at in part: between two shares in either order, and never for a mere click', () => {
    const span = { from: 1_000, to: 2_000 };
    expect(partOf(span, { from: 0.25, to: 0.5 })).toEqual({ from: 1_250, to: 1_500 });
    expect(partOf(span, { from: 0.5, to: 0.25 })).toEqual({ from: 1_250, to: 1_500 });
    expect(partOf(span, { from: 0.5, to: 0.5 })).toBeNull();
    expect(partOf({ from: 5, to: 6 }, { from: 0, to: 0.5 })).toEqual({ from: 5, to: 6 });
  });

  it('cuts off what lies outside of the part', () => {
    expect(placeOf({ from: 0, to: 150 }, { from: 100, to: 200 })).toEqual({ left: 0, width: 50 });
    expect(placeOf({ from: 250, to: 300 }, { from: 100, to: 200 })).toEqual({ left: 100, width: 0 });
  });
});

import { describe, expect, it } from 'vitest';
import { refusalOf } from './allowed-action.ts';
import { referencedValues } from './condition-values.ts';
import { curlOf } from './curl.ts';
import { eventTypes, filterEvents } from './event-filter.ts';
import { withValueAt } from './json-edit.ts';
import { expressionOf, rootOf } from './json-path.ts';
import { eventsFrom, machineGraph } from './machine-graph.ts';
import { matching, placeOfFound } from './palette.ts';
import { seriesOf } from './series.ts';
import { executionLook, isEnded, isTrouble, statusLook } from './status.ts';
import { bytesText, clipped, countText, percentText, plural, shortId, slugOf } from './text.ts';
import { triggerText } from './trigger-text.ts';
import { workflowItem } from './workflow-item.ts';

describe('small texts', () => {
  it('shorten ids, counts, sizes and names', () => {
    expect(shortId('01a1ec23-0000-7000-8000-000000007237')).toBe('01a1ec23…7237');
    expect([
      shortId('short'),
      countText(999),
      countText(12_345, true),
      bytesText(5),
      bytesText(2_048),
      bytesText(3_145_728),
    ]).toEqual(['short', '999', '12k+', '5 B', '2.0 KB', '3.0 MB']);
    expect([plural(1, 'node'), plural(2, 'entry', 'entries'), clipped('abc', 2), clipped('ab', 2)]).toEqual([
      '1 node',
      '2 entries',
      'a…',
      'ab',
    ]);
    expect([slugOf('Welcome letter, v2!'), slugOf('  2nd  notice '), slugOf('…')]).toEqual([
      'welcome-letter-v2',
      'nd-notice',
      '',
    ]);
    expect([
      percentText(0, 0),
      percentText(0, 5),
      percentText(1, 1_000),
      percentText(1, 20),
      percentText(1, 2),
    ]).toEqual(['–', '0 %', '< 1 %', '5.0 %', '50 %']);
  });

  it('say a status with icon, word and tone; a pipeline with failed tasks is never simply green', () => {
    expect(statusLook('Failed')).toEqual({ word: 'Failed', tone: 'bad', icon: 'cross' });
    expect(statusLook('constructor').word).toBe('constructor');
    expect(executionLook({ status: 'Running', why: 'retrying' }).word).toBe('Retrying');
    expect(executionLook({ status: 'Succeeded' }, 2)).toMatchObject({ word: 'Completed, 2 failed', tone: 'warn' });
    expect([isEnded('Paused'), isEnded('TimedOut'), isTrouble('Failed'), isTrouble('Cancelled')]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it('say why an action is not possible now', () => {
    const all = (status: string) =>
      (['retry', 'cancel', 'pause', 'resume'] as const).map((action) => refusalOf(action, { status }) === null);
    expect(all('Failed')).toEqual([true, false, false, false]);
    expect(all('Running')).toEqual([false, true, true, false]);
    expect(all('Paused')).toEqual([false, true, false, true]);
    expect(all('Succeeded')).toEqual([false, false, false, false]);
  });

  it('write the expression that reads a value', () => {
    expect(expressionOf(rootOf('graph'), ['fetch', 'a-b', 0])).toBe('context.data.fetch["a-b"][0]');
    expect([rootOf('pipeline'), rootOf('plan')]).toEqual(['tasks', 'steps']);
  });

  it('change one value of a JSON text, and leave alone what is not JSON', () => {
    expect(JSON.parse(withValueAt('{"a":[{"b":1}]}', '/a/0/b', 2))).toEqual({ a: [{ b: 2 }] });
    for (const [text, pointer] of [
      ['{', '/a'],
      ['{"a":1}', '/a/b'],
      ['{}', ''],
      ['{}', '/__proto__'],
    ] as const) {
      expect(withValueAt(text, pointer, 1)).toBe(text);
    }
  });

  it('show the values that a condition read', () => {
    const scope = { trigger: { n: 1 }, spec: { s: 2 }, outputs: { fetch: { list: [7] } } };
    expect(
      referencedValues('trigger.n > 0 && context.data.fetch.list[0] == spec.s && trigger.gone.deep', scope),
    ).toEqual([
      { path: 'trigger.n', value: 1 },
      { path: 'context.data.fetch.list[0]', value: 7 },
      { path: 'spec.s', value: 2 },
      { path: 'trigger.gone.deep', value: undefined },
    ]);
  });

  it('make a command of an HTTP attempt that a shell takes as it is', () => {
    expect(curlOf({ url: "https://x/it's", method: 'POST', headers: { a: 'b' }, body: { n: 1 } })).toBe(
      "curl -X POST 'https://x/it'\\''s' \\\n  -H 'a: b' \\\n  -H 'content-type: application/json' \\\n  -d '{\"n\":1}'",
    );
    expect([curlOf(null), curlOf({ url: 'file:///x' }), curlOf({ url: 'http://x' })]).toEqual([
      null,
      null,
      "curl -X GET 'http://x'",
    ]);
  });

  it('filter events by text, type, node and level', () => {
    const events = [
      { type: 'A', level: 'Info', nodeId: 'x', data: { text: 'Hello' } },
      { type: 'B', level: 'Error', data: {} },
      { type: 'B', level: 'Warn' },
    ];
    expect(filterEvents(events, {})).toBe(events);
    expect(filterEvents(events, { text: 'hello' })).toEqual([events[0]]);
    expect(filterEvents(events, { level: 'Warn' })).toEqual([events[1], events[2]]);
    expect(filterEvents(events, { level: 'Error' })).toEqual([events[1]]);
    expect(filterEvents(events, { type: 'A', node: 'y' })).toEqual([]);
    expect(eventTypes(events)).toEqual(['A', 'B']);
  });

  it('offer whole names before parts, and parts before letters', () => {
    const entries = ['orders', 'my orders', 'o-r-d-e-r-s', 'other'].map((label) => ({ label }));
    expect(matching(entries, 'orders').map(({ label }) => label)).toEqual(['orders', 'my orders', 'o-r-d-e-r-s']);
    expect(matching(entries, ' ')).toHaveLength(4);
    expect(placeOfFound({ kind: 'instance', id: 'prod/loan/a b' })).toBe('/lifecycles/prod/loan/a%20b');
    expect(
      ['execution', 'workflow', 'trigger', 'message', 'consumer', 'bulk', 'other'].map((kind) =>
        placeOfFound({ kind, id: 'x' }),
      ),
    ).toEqual(['/executions/x', '/workflows/x', '/triggers/x', '/messages/x', '/consumers/x', '/bulk/x', null]);
  });

  it('draw a machine, and know what a state allows', () => {
    const graph = machineGraph({
      initial: 'a',
      states: { a: {}, b: { final: true } },
      transitions: [
        { from: 'a', on: 'go', to: 'b' },
        { from: 'a', on: 'jump', to: 'b' },
      ],
    });
    expect(graph.arrows).toEqual([{ from: 'a', to: 'b', events: ['go', 'jump'] }]);
    expect(graph.states).toEqual([
      { name: 'a', isInitial: true, isFinal: false },
      { name: 'b', isInitial: false, isFinal: true },
    ]);
    expect([eventsFrom(graph, 'a'), eventsFrom(graph, 'b'), machineGraph({})]).toEqual([
      ['go', 'jump'],
      [],
      { states: [], arrows: [] },
    ]);
  });

  it('sum points of the same time, without gaps', () => {
    const point = { started: 1, succeeded: 1, failed: 1, timedOut: 0, cancelled: 0 };
    const points = [
      { ...point, at: '1970-01-01T00:01:10Z', p95Ms: 5 },
      { ...point, at: '1970-01-01T00:01:20Z', p95Ms: 9, waitP95Ms: 2 },
    ];
    expect(seriesOf(points, 60_000, 2, 125_000)).toEqual([
      { at: 60_000, started: 2, ended: 4, failed: 2, p95Ms: 9, waitP95Ms: 2 },
      { at: 120_000, started: 0, ended: 0, failed: 0, p95Ms: undefined, waitP95Ms: undefined },
    ]);
  });

  it('tell a trigger in a few words', () => {
    expect(triggerText({ triggerType: 'Schedule', config: { cron: '@daily', timezone: 'UTC' } })).toBe('@daily (UTC)');
    expect(triggerText({ triggerType: 'Event', config: { eventType: 'x' } })).toBe('event x');
    expect(triggerText({ triggerType: 'Webhook', config: {} })).toBe('webhook');
    expect(triggerText({ triggerType: 'Manual', config: {} })).toBe('by hand');
  });

  it('know workflows of both dialects as one', () => {
    const pipeline = workflowItem({ id: 'wf_1', name: 'flow', enabled: false, version: 2, tasks: {}, trigger: 'api' });
    expect(pipeline).toMatchObject({
      id: 'flow',
      format: 'pipeline',
      isEnabled: false,
      version: 2,
      definition: { name: 'flow', tasks: {} },
    });
    const graph = workflowItem({
      id: 'g',
      displayName: 'G',
      isEnabled: true,
      hasDraft: true,
      definition: { triggerSchema: {} },
    });
    expect(graph).toMatchObject({ id: 'g', title: 'G', format: 'graph', hasDraft: true, triggerSchema: {} });
    expect(workflowItem({ id: 'wf_1', name: 'listed' }).definition).toBeUndefined();
  });
});

// Every block of docs/patterns.md is published and run, and returns what the page says.

import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { engineUnderTest, eventually, TENANT } from '../engine/engine-under-test.ts';

const engine = engineUnderTest({ engine: { allowRecursion: true } });
const page = readFileSync(new URL('../../docs/patterns.md', import.meta.url), 'utf8');
const sections = page.split(/^### /m).slice(1);
const json = (text: string | undefined) => (text === undefined ? undefined : JSON.parse(text));

interface Pattern {
  readonly title: string;
  readonly number: number;
  readonly nodes: JsonObject[] | undefined;
  readonly more: JsonObject;
  readonly trigger: JsonObject;
  readonly event: { type: string; data: JsonObject } | undefined;
  readonly events: number;
  readonly returns: JsonObject | undefined;
  readonly failsWith: string | undefined;
}

const patterns = sections.map((section): Pattern => {
  const [, block] = /^```json\n(.*?)^```$/ms.exec(section) ?? [];
  const said = section.slice(section.lastIndexOf('```'));
  const between = (words: RegExp) => new RegExp(`${words.source} \`(.*?)\`[,. ]`).exec(said)?.[1];
  return {
    title: section.slice(0, section.indexOf('\n')),
    number: Number.parseInt(section, 10),
    nodes: json(block),
    more: json(`{${between(/With/) ?? ''}}`),
    trigger: json(between(/the trigger/)) ?? {},
    event: json(between(/event(?:s)?/)),
    events: said.includes('two events') ? 2 : 1,
    returns: json(between(/returns/)),
    failsWith: between(/fails with/),
  };
});

beforeAll(async () => {
  const node = { id: 'only', actionType: 'core.echo', parameters: { n: '{{ trigger.n }}' } };
  await engine.pawl.publish({ id: 'pattern-child', displayName: 'Child', startNode: 'only', nodes: [node] });
});

async function run({ number, nodes, more, trigger, event, events }: Pattern) {
  const id = `pattern-${number}`;
  const definition = { id, displayName: id, startNode: nodes![0]!.id!, ...more, nodes: nodes! };
  const executionId = await engine.start(definition, { trigger });
  for (let nth = 0; event !== undefined && nth < events; nth++) {
    const tell = () => engine.pawl.executions.tellWaiting(TENANT, { id: `${id}-${nth}`, ...event });
    await eventually(tell).toBe(1);
  }
  return await engine.pawl.result(executionId);
}

describe('the patterns', () => {
  it('the page shows 43 patterns, at least 30 of them supported directly', () => {
    expect(patterns.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 43 }, (_, n) => n + 1),
    );
    const spelt = (how: string) => sections.filter((section) => section.includes(`\n\n*${how}.*`)).length;
    expect(page).toContain(
      `${spelt('Directly')} directly, ${spelt('With an idiom')} with\nan idiom, ${spelt('Not at all')} not at all`,
    );
    expect(spelt('Directly')).toBeGreaterThanOrEqual(30);
    expect(spelt('Not at all')).toBeLessThanOrEqual(5);
    expect(spelt('Directly') + spelt('With an idiom') + spelt('Not at all')).toBe(43);
  });

  it.each(patterns.filter(({ nodes }) => nodes !== undefined))(
    'the pattern $title ends as the page says',
    async (pattern) => {
      const result = await run(pattern);
      if (pattern.failsWith === undefined) expect(result).toMatchObject({ status: 'Succeeded' });
      else expect(result).toMatchObject({ status: 'Failed', error: { code: pattern.failsWith } });
      if (pattern.returns !== undefined) expect((result as { outputs?: unknown }).outputs).toEqual(pattern.returns);
    },
  );
});

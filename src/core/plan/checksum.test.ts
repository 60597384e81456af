import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { call, compiled, graph, node, pipeline, plan, step, to } from '../definition/definition.testing.ts';
import { sha256Hex } from './checksum.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples');
const definitions = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(EXAMPLES, name), 'utf8')) as object)
  // Lifecycles are not plans.
  .filter((definition) => 'nodes' in definition || 'tasks' in definition || 'steps' in definition);

/** The same value with its keys in another order. The order of `tasks` stays, because it is the order of the nodes. */
function shuffled(value: unknown, random: () => number, key = ''): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => shuffled(item, random));
  const entries = Object.entries(value).map(([name, item]) => ({
    name,
    item: shuffled(item, random, name),
    at: random(),
  }));
  if (key !== 'tasks') entries.sort((a, b) => a.at - b.at);
  return Object.fromEntries(entries.map(({ name, item }) => [name, item]));
}

describe('the checksum of a plan', () => {
  it('the checksum does not depend on the order of keys', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...definitions),
        fc.infiniteStream(fc.double({ noNaN: true })),
        (definition, stream) => {
          const permuted = shuffled(definition, () => stream.next().value as number);
          expect(compiled(permuted).checksum).toBe(compiled(definition).checksum);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('definitions that run differently have different checksums', () => {
    const echo = (fields: object) => graph([node('a', { ...to('b'), ...fields }), node('b')]);
    const delay = (durationMs: unknown) => graph([node('a', { actionType: 'core.delay', parameters: { durationMs } })]);
    const gated = (on: string) => plan([step('a'), step('b', { dependsOn: ['a'], when: { expression: 'on', on } })]);
    const different = [
      echo({}),
      echo({ parameters: { x: 1 } }),
      echo({ parameters: { x: '1' } }),
      echo({ parameters: { x: null } }),
      echo({ parameters: { x: '{{ trigger.x }}' } }),
      echo({ parameters: { x: '{{ trigger.y }}' } }),
      echo({ parameters: { x: 'a {{ trigger.y }}' } }),
      echo({ parameters: { x: ['{{ trigger.y }}'] } }),
      echo({ edges: [{ targetNode: 'b', condition: 'trigger.x' }] }),
      echo({ edges: [{ targetNode: 'b', condition: 'trigger.y' }] }),
      echo({ policies: { timeoutMs: 1 } }),
      graph([node('a')], { outputs: { x: 1 } }),
      graph([node('a')], { vars: { x: 1 } }),
      delay(1),
      delay(2),
      delay('{{ trigger.a }}'),
      delay('{{ trigger.b }}'),
      gated('a.x'),
      gated('a.y'),
      pipeline({ a: call() }),
      pipeline({ a: call({ if: 'trigger.body.x' }) }),
    ];
    expect(new Set(different.map((definition) => compiled(definition).checksum)).size).toBe(different.length);
  });

  it('the checksum depends on an expression as written, except for the space around it', () => {
    const withText = (x: string) => compiled(graph([node('a', { parameters: { x } })])).checksum;
    expect(withText('{{trigger.x}}')).toBe(withText('{{  trigger.x  }}'));
    expect(withText('{{trigger.x}}')).not.toBe(withText("{{trigger['x']}}"));
  });

  it('the checksum is the SHA-256 of the UTF-8 text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(sha256Hex(text)).toBe(createHash('sha256').update(text, 'utf8').digest('hex'));
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import type { Json } from '../../../core/json/json.ts';
import { loan, machineOf } from '../loan.testing.ts';
import { durationText } from './edge.ts';
import { layOut } from './layout.ts';
import { lifecycleMermaid } from './mermaid.ts';
import { lifecycleSvg } from './svg.ts';
import { textWidth } from './text.ts';

/** A machine with these transitions; the first `from` is the initial state. */
function machine(transitions: [from: string, on: string, to: string][], states: Record<string, Json> = {}) {
  const names = new Set(transitions.flatMap(([from, , to]) => [from, to]));
  return machineOf({
    env: 'test',
    name: 'm',
    initial: transitions[0]![0],
    states: { ...Object.fromEntries([...names].map((name) => [name, {}])), ...states },
    events: Object.fromEntries(transitions.map(([, on]) => [on, {}])),
    transitions: transitions.map(([from, on, to]) => ({ from, on, to })),
  });
}

describe('Mermaid', () => {
  it('the Mermaid diagram has every state and transition, and marks the state of an instance', () => {
    expect(lifecycleMermaid(machineOf(loan()), { current: 'submitted' })).toBe(`stateDiagram-v2
  direction LR
  [*] --> draft
  draft --> submitted : submit
  submitted --> submitted : remind (every 2d, 3×)
  submitted --> approved : approve
  submitted --> rejected : reject
  approved --> [*]
  rejected --> [*]
  classDef current fill:#0b69a3,color:#ffffff,stroke:#0b69a3
  class submitted current
`);
  });

  it('names that Mermaid would misread get another id, and are escaped', () => {
    const odd = machine([['end', 'a;b', 'in "review": <x>']]);
    expect(lifecycleMermaid(odd, { current: 'nowhere' })).toBe(`stateDiagram-v2
  direction LR
  state "end" as state_0
  state "in #34;review#34;#58; #60;x#62;" as state_1
  [*] --> state_0
  state_0 --> state_1 : a#59;b
`);
  });
});

describe('the labels of timeouts', () => {
  it.each<[Json, string]>([
    [{ after: '90m', event: 'e' }, 'e (after 90m)'],
    [{ after: '1500ms', event: 'e', mode: 'repeat' }, 'e (every 1500ms)'],
    [{ after: '1h', event: 'e', mode: 'repeat', interval: '30s' }, 'e (after 1h, then every 30s)'],
  ])('the label of a timeout: %j', (timeout, label) => {
    expect(lifecycleMermaid(machine([['a', 'e', 'a']], { a: { timeout } }))).toContain(`a --> a : ${label}`);
  });

  it('the label of a timeout uses the largest unit that fits', () => {
    expect([172_800_000, 3_600_000, 60_000, 61_000, 1].map(durationText)).toEqual(['2d', '1h', '1m', '61s', '1ms']);
  });
});

describe('the SVG picture', () => {
  it('the picture escapes every name, and cuts long names but keeps them as a title', () => {
    const long = `<script>&"'${'x'.repeat(60)}`;
    const svg = lifecycleSvg(machine([[long, 'go\uFFFF', '承認']]), { current: '承認' });
    expect(svg).not.toContain('<script>');
    expect(svg).toContain(`<title>&lt;script&gt;&amp;&quot;&#39;${'x'.repeat(60)}</title>`);
    expect(svg).toContain('go\uFFFD');
    expect(svg.match(/class="state current"/g)).toHaveLength(1);
  });

  it('the picture draws a final state with two frames, and a loop above its state', () => {
    const svg = lifecycleSvg(machineOf(loan()));
    expect(svg.match(/class="inner"/g)).toHaveLength(2);
    expect(svg).toContain('>remind (every 2d, 3×)</text>');
  });

  it('no two boxes or labels of the picture overlap', () => {
    const busy = machine([
      ['new', 'pay', 'paid'],
      ['new', 'cancel', 'cancelled'],
      ['paid', 'cancel', 'cancelled'],
      ['paid', 'pack', 'packing'],
      ['paid', 'hold', 'on hold'],
      ['paid', 'escalate', 'on hold'],
      ['on hold', 'release', 'paid'],
      ['on hold', 'cancel', 'cancelled'],
      ['packing', 'nudge', 'packing'],
      ['packing', 'ship', 'shipped'],
      ['packing', 'hold', 'on hold'],
      ['shipped', 'ask for return', 'return requested'],
      ['return requested', 'refuse', 'shipped'],
    ]);
    const { boxes, arrows, width, height } = layOut(busy);
    const texts = arrows.map(({ edge, label }) => {
      const size = { width: Math.max(...edge.labels.map(textWidth)), height: edge.labels.length * 18 };
      return { x: label.x - size.width / 2, y: label.y - size.height / 2, ...size };
    });
    const all = [...boxes.values(), ...texts];
    for (const [index, one] of all.entries()) {
      expect(one.x >= 0 && one.y >= 0 && one.x + one.width <= width && one.y + one.height <= height).toBe(true);
      for (const other of all.slice(index + 1)) {
        const apart =
          one.x + one.width <= other.x ||
          other.x + other.width <= one.x ||
          one.y + one.height <= other.y ||
          other.y + other.height <= one.y;
        expect(apart).toBe(true);
      }
    }
  });

  it('a machine with a single state can be drawn', () => {
    expect(layOut(machine([['a', 'again', 'a']])).boxes.size).toBe(1);
  });

  it('a very large machine can be drawn, with straight arrows', () => {
    const size = 200;
    const names = Array.from({ length: size }, (_, index) => `s${index}`);
    const along = names.slice(1).map((name, index): [string, string, string] => [names[index]!, 'next', name]);
    const back = names.slice(2).map((name): [string, string, string] => [name, 'reset', 's0']);
    expect(layOut(machine([...along, ...back])).arrows).toHaveLength(along.length + back.length);
  });
});

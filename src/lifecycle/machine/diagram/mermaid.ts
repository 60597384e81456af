// A machine as Mermaid text (`stateDiagram-v2`), which GitHub and many editors draw.

import type { Machine } from '../machine.ts';
import { diagramEdges } from './edge.ts';
import type { DiagramOptions } from './svg.ts';

/** Words with a meaning in Mermaid. */
const RESERVED =
  /^(?:as|class|classDef|choice|click|default|direction|end|fork|hide|href|join|note|scale|state|stateDiagram|style)$/i;
const PLAIN = /^[A-Za-z][A-Za-z0-9_]*$/;
/** The alias of a state whose name Mermaid cannot read. */
const ALIAS = /^state_\d+$/;

export function lifecycleMermaid(machine: Machine, { current }: DiagramOptions = {}): string {
  const ids = new Map([...machine.states.keys()].map((name, index) => [name, idOf(name, index)]));
  const id = (name: string): string => ids.get(name)!;
  const states = [...machine.states.values()];
  const lines = [
    'stateDiagram-v2',
    '  direction LR',
    ...states.filter(({ name }) => id(name) !== name).map(({ name }) => `  state "${asEntities(name)}" as ${id(name)}`),
    `  [*] --> ${id(machine.initial)}`,
    ...diagramEdges(machine).flatMap(({ from, to, labels }) => {
      return labels.map((label) => `  ${id(from)} --> ${id(to)} : ${asEntities(label)}`);
    }),
    ...states.filter(({ isFinal }) => isFinal).map(({ name }) => `  ${id(name)} --> [*]`),
  ];
  if (current !== undefined && ids.has(current)) {
    lines.push('  classDef current fill:#0b69a3,color:#ffffff,stroke:#0b69a3', `  class ${id(current)} current`);
  }
  return `${lines.join('\n')}\n`;
}

function idOf(name: string, index: number): string {
  return PLAIN.test(name) && !RESERVED.test(name) && !ALIAS.test(name) ? name : `state_${index}`;
}

/** As Mermaid entities: every character that could end a text or has a meaning. */
function asEntities(text: string): string {
  return text.replace(/[^\p{L}\p{N} _.,()×-]/gu, (character) => `#${character.codePointAt(0)};`);
}

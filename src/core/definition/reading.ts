// The meaning of a path in an expression: a node's result, a webhook's callback URL, or an outside value that cannot be checked
// here.

import type { Format } from '../plan/plan.ts';
import { nearMiss } from '../problem/near-miss.ts';

type Path = readonly (string | number)[];

export type Reading =
  /** trigger, vars, inputs, …: only known at run time. */
  | { readonly kind: 'elsewhere' }
  /** The results of all nodes, or of one with a computed name. */
  | { readonly kind: 'all' }
  /** A member that never exists: the alternatives, the probable meaning, and whether earlier versions accepted it. */
  | { readonly kind: 'nothing'; readonly instead: string; readonly meant: Path | null; readonly isNew: boolean }
  | { readonly kind: 'data' | 'callback'; readonly name: string };

/** Roots whose members are known in advance. */
const CLOSED: Readonly<Record<Format, Readonly<Record<string, readonly string[]>>>> = {
  graph: {
    execution: ['id', 'workflowId', 'version', 'tenantId', 'correlationId', 'startedAt'],
    attempt: ['number', 'startedAt'],
  },
  pipeline: { trigger: ['body', 'headers', 'method', 'query'] },
  plan: {},
};

export function readingOf(format: Format, path: Path): Reading {
  const [root, member, ...rest] = path;
  const members = Object.hasOwn(CLOSED[format], root!) ? CLOSED[format][root!]! : null;
  if (members !== null && member !== undefined && !members.includes(String(member))) {
    const near = member === 'executionId' ? 'id' : nearMiss(String(member), members);
    const inBody = root === 'trigger' ? ['trigger', 'body', member, ...rest] : null;
    const meant = near === undefined ? inBody : [root!, near, ...rest];
    return { kind: 'nothing', instead: `\`${root}\` has ${members.join(', ')}`, meant, isNew: true };
  }
  switch (format) {
    case 'graph':
      if (path[0] === 'wait') return path.length === 1 ? { kind: 'elsewhere' } : named('callback', path[1]);
      if (path[0] !== 'context') return { kind: 'elsewhere' };
      if (path.length > 1 && path[1] !== 'data') {
        const instead = 'the outputs of nodes are in `context.data`';
        return { kind: 'nothing', instead, meant: ['context', 'data', ...path.slice(1)], isNew: false };
      }
      return named('data', path[2]);
    case 'pipeline':
      if (path[0] === 'wait') return path.length === 1 ? { kind: 'elsewhere' } : named('callback', path[1]);
      return path[0] === 'tasks' ? named('data', path[1]) : { kind: 'elsewhere' };
    case 'plan':
      return path[0] === 'steps' ? named('data', path[1]) : { kind: 'elsewhere' };
  }
}

function named(kind: 'data' | 'callback', name: string | number | undefined): Reading {
  return name === undefined ? { kind: 'all' } : { kind, name: String(name) };
}

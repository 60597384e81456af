// What a path in an expression stands for: the result of a node, the callback URL of a webhook, or something that is
// given from outside and cannot be checked here.

import type { Format } from '../plan/plan.ts';

type Path = readonly (string | number)[];

export type Reading =
  /** trigger, vars, inputs, …: not known before it runs. */
  | { readonly kind: 'elsewhere' }
  /** The results of all nodes at once, or of one whose name is computed. */
  | { readonly kind: 'all' }
  /** A member of `context` that never exists. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'data' | 'callback'; readonly name: string };

export function readingOf(format: Format, path: Path): Reading {
  switch (format) {
    case 'graph':
      if (path[0] === 'wait') return path.length === 1 ? { kind: 'elsewhere' } : named('callback', path[1]);
      if (path[0] !== 'context') return { kind: 'elsewhere' };
      if (path.length > 1 && path[1] !== 'data') return { kind: 'nothing' };
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

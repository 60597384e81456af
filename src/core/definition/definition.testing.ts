// Small definitions for the tests of this folder, and shortcuts to their compilation.

import { expect } from 'vitest';
import type { Plan } from '../plan/plan.ts';
import type { Problem } from '../problem/problem.ts';
import { type CompileOptions, compileDefinition } from './compile.ts';

type Fields = Readonly<Record<string, unknown>>;

export function node(id: string, fields: Fields = {}): Fields {
  return { id, actionType: 'core.echo', ...fields };
}

export function to(...targets: string[]): Fields {
  return { edges: targets.map((targetNode) => ({ targetNode })) };
}

export function graph(nodes: readonly Fields[], fields: Fields = {}): Fields {
  return { id: 'test', displayName: 'Test', startNode: 'a', nodes, ...fields };
}

export function pipeline(tasks: Fields, fields: Fields = {}): Fields {
  return { name: 'test', tasks, ...fields };
}

export function call(fields: Fields = {}): Fields {
  return { url: 'https://example.com/', ...fields };
}

export function step(stepId: string, fields: Fields = {}): Fields {
  return { stepId, type: 'core.echo', inputs: {}, timeout: '1m', ...fields };
}

export function plan(steps: readonly Fields[], fields: Fields = {}): Fields {
  return {
    metadata: {
      planId: 'test',
      planVersion: '1',
      createdAt: '2026-02-22T10:00:00Z',
      createdBy: 'planner',
      schemaVersion: 'v1',
    },
    scope: { tenantId: 't', projectId: 'p', environmentId: 'e', repoSha: 's' },
    steps,
    ...fields,
  };
}

export function compiled(definition: unknown, options?: CompileOptions): Plan {
  const result = compileDefinition(definition, options);
  if (!result.ok) expect(result.problems).toEqual([]);
  return (result as { plan: Plan }).plan;
}

export function nodeOf(definition: unknown, id: string): Plan['nodes'][number] {
  return compiled(definition).nodes.find((candidate) => candidate.id === id)!;
}

export function problemsOf(definition: unknown, options?: CompileOptions): Problem[] {
  const result = compileDefinition(definition, options);
  return result.ok ? [] : result.problems;
}

/** `CODE path`, the subject of most tests. */
export function codesOf(definition: unknown, options?: CompileOptions): string[] {
  return problemsOf(definition, options).map(({ code, path }) => `${code} ${path}`);
}

// Short helpers to write the workflows that tests run.

import type { Json, JsonObject } from '../../src/core/json/json.ts';

export type GraphNode = { id: string } & JsonObject;

/** A graph whose start node is its first node. */
export function graph(id: string, nodes: readonly GraphNode[], rest: JsonObject = {}): JsonObject {
  return { id, displayName: id, startNode: nodes[0]!.id, nodes: [...nodes], ...rest };
}

/** A node that runs the controlled action. */
export function held(id: string, rest: JsonObject = {}): GraphNode {
  return { id, actionType: 'test.work', ...rest };
}

export function echo(id: string, parameters: JsonObject = {}, rest: JsonObject = {}): GraphNode {
  return { id, actionType: 'core.echo', parameters, ...rest };
}

export function subworkflow(id: string, workflowId: string, rest: JsonObject = {}): GraphNode {
  return { id, nodeType: 'subworkflow', workflowId, ...rest };
}

export function delay(id: string, durationMs: Json, rest: JsonObject = {}): GraphNode {
  return { id, actionType: 'core.delay', parameters: { durationMs }, ...rest };
}

export function to(...targets: string[]): { edges: Json[] } {
  return { edges: targets.map((targetNode) => ({ targetNode })) };
}

export function tries(maxAttempts: number, rest: JsonObject = {}): { policies: JsonObject } {
  return { policies: { retry: { maxAttempts, baseDelayMs: 1, backoffFactor: 1, jitter: false }, ...rest } };
}

/** An execution plan of controlled actions: each step with the steps it depends on. */
export function plan(planId: string, steps: Readonly<Record<string, readonly string[]>>): JsonObject {
  return {
    metadata: {
      planId,
      planVersion: '1',
      createdAt: '2026-02-22T10:00:00Z',
      createdBy: 'test',
      schemaVersion: 'v1',
    },
    scope: { tenantId: 'default', projectId: 'p', environmentId: 'e', repoSha: 's' },
    steps: Object.entries(steps).map(([stepId, dependsOn]) => ({
      stepId,
      type: 'test.work',
      inputs: {},
      timeout: '1m',
      dependsOn: [...dependsOn],
    })),
  };
}

// Writes a workflow of the simulation in its format, as a person would, and compiles it with the real compiler.

import { compileDefinition } from '../../src/core/definition/compile.ts';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import type { NodeSpec, WorkflowSpec } from './workflow.ts';

/** Longer than any attempt takes by itself. */
const ATTEMPT_TIMEOUT_MS = 60_000;

export function definitionOf(workflow: WorkflowSpec): JsonObject {
  if (workflow.language !== undefined) return workflow.language.definition;
  switch (workflow.format) {
    case 'graph':
      return {
        id: workflow.id,
        displayName: workflow.id,
        startNode: workflow.nodes[0]!.id,
        snapshot: { mode: 'Full' },
        ...(workflow.timeoutMs === null ? {} : { timeoutMs: workflow.timeoutMs }),
        nodes: workflow.nodes.map((node) => graphNode(workflow, node)),
      };
    case 'pipeline':
      return { name: workflow.id, tasks: Object.fromEntries(workflow.nodes.map((node) => [node.id, task(node)])) };
    case 'plan':
      return {
        metadata: {
          planId: workflow.id,
          planVersion: '1',
          createdAt: '2026-02-22T10:00:00Z',
          createdBy: 'simulation',
          schemaVersion: 'v1',
        },
        scope: { tenantId: 't', projectId: 'p', environmentId: 'e', repoSha: 's' },
        steps: workflow.nodes.map(planStep),
      };
  }
}

function graphNode(workflow: WorkflowSpec, node: NodeSpec): JsonObject {
  const edges = workflow.nodes.flatMap(({ id, needs }) =>
    needs.filter((need) => need.id === node.id).map(({ when }) => ({ targetNode: id, when })),
  );
  const retry = { maxAttempts: node.maxAttempts, baseDelayMs: node.baseDelayMs };
  switch (node.kind) {
    case 'child':
    case 'fireAndForget': {
      const waitForCompletion = node.kind === 'child';
      const invoked = { nodeType: 'subworkflow', workflowId: node.child!.id, waitForCompletion };
      return { id: node.id, ...invoked, parameters: { value: '{{ trigger.value }}' }, edges };
    }
    case 'sleep':
      return { id: node.id, actionType: 'core.delay', parameters: { durationMs: node.sleepMs }, edges };
    default: {
      const parameters = { value: '{{ trigger.value }}' };
      return {
        id: node.id,
        actionType: 'core.echo',
        parameters,
        edges,
        policies: { retry, timeoutMs: ATTEMPT_TIMEOUT_MS },
      };
    }
  }
}

function task(node: NodeSpec): Json {
  const needs = node.needs.map(({ id }) => id);
  switch (node.kind) {
    case 'sleep':
      return { needs, sleep: node.sleepMs / 1_000 };
    case 'webhook':
      return { needs, wait_for_webhook: {} };
    default:
      return {
        needs,
        url: 'https://example.com/',
        body: { value: '{{ trigger.body.value }}' },
        retries: node.maxAttempts - 1,
      };
  }
}

function planStep(node: NodeSpec): Json {
  const dependsOn = node.needs.map(({ id }) => id);
  if (node.kind === 'sleep') {
    return { stepId: node.id, type: 'core.delay', inputs: { durationMs: node.sleepMs }, timeout: '1m', dependsOn };
  }
  return { stepId: node.id, type: 'core.echo', inputs: { value: '{{ inputs.value }}' }, timeout: '1m', dependsOn };
}

const compiled = new Map<string, Plan>();

/** Compiling is pure, so every process of every seed may share the result. */
export function compileText(definition: string): Plan {
  const known = compiled.get(definition);
  if (known !== undefined) return known;
  const result = compileDefinition(JSON.parse(definition));
  if (!result.ok) throw new Error(`the simulation wrote a bad definition: ${JSON.stringify(result.problems)}`);
  if (compiled.size > 5_000) compiled.clear();
  compiled.set(definition, result.plan);
  return result.plan;
}

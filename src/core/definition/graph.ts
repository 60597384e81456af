// Reads a graph workflow (000 §4) into a draft: defaults applied, `onFailure` as an implicit edge, `core.delay` as a
// sleep. Reports what the schema cannot say: which fields a node of each type needs.

import type { Json, JsonObject } from '../json/json.ts';
import type { NodePolicy, Plan, RetryPolicy } from '../plan/plan.ts';
import { DEFINITION_DEFAULTS, type DefinitionDefaults, WAITING_POLICY } from './defaults.ts';
import { DELAY_ACTION, readDelay } from './delay.ts';
import type { Draft, DraftEdge, DraftNode, DraftStep, Located, ReadOptions } from './draft.ts';
import { choiceIn, flagIn, listIn, numberIn, objectIn, textIn } from './json-read.ts';
import type { Findings } from './problem.ts';

export function readGraph(definition: JsonObject, findings: Findings, options: ReadOptions): Draft {
  const { defaults = DEFINITION_DEFAULTS } = options;
  const nodes: DraftNode[] = [];
  const edges: DraftEdge[] = [];
  listIn(definition.nodes).forEach((value, index) => {
    const raw = objectIn(value);
    const at = `/nodes/${index}`;
    edges.push(...readEdges(raw, nodes.length, at));
    nodes.push(readNode(raw, at, findings, defaults));
  });
  const startNode = textIn(definition.startNode);
  return {
    format: 'graph',
    id: textIn(definition.id) ?? '',
    startNode: startNode === null ? null : { value: startNode, at: '/startNode' },
    nodes,
    edges,
    onUnhandledFailure: 'failFast',
    timeoutMs: numberIn(definition.timeoutMs, defaults.graphTimeoutMs),
    outputs: definition.outputs === undefined ? null : { value: definition.outputs, at: '/outputs' },
    vars: objectIn(definition.vars),
    scope: {},
    snapshot: readSnapshot(objectIn(definition.snapshot), defaults),
    namedVersion: null,
  };
}

function readNode(raw: JsonObject, at: string, findings: Findings, defaults: DefinitionDefaults): DraftNode {
  const step = raw.nodeType === 'subworkflow' ? readSubworkflow(raw, at, findings) : readAction(raw, at, findings);
  return {
    id: textIn(raw.id) ?? '',
    at,
    idAt: `${at}/id`,
    step,
    actionAt: step?.kind === 'action' ? `${at}/actionType` : null,
    parameters: step?.kind === 'sleep' ? null : { value: objectIn(raw.parameters), at: `${at}/parameters` },
    policy: readPolicy(objectIn(raw.policies), step, defaults),
    join: 'any',
    condition: null,
    routePolicy: choiceIn(raw.routePolicy, ['parallel', 'firstMatch'], 'parallel'),
    dispatch: null,
  };
}

function readAction(raw: JsonObject, at: string, findings: Findings): DraftStep | null {
  const actionType = textIn(raw.actionType);
  if (actionType === null) {
    if (raw.actionType !== undefined) return null;
    const suggestion =
      raw.workflowId === undefined ? 'add "actionType", e.g. "core.echo"' : 'add "nodeType": "subworkflow"';
    findings.error('MISSING_ACTION_TYPE', at, 'an action node needs `actionType`', suggestion);
    return null;
  }
  ignoreFields(raw, at, ['workflowId', 'workflowVersion', 'waitForCompletion'], 'an action', findings);
  if (actionType === DELAY_ACTION) return readDelay(objectIn(raw.parameters), `${at}/parameters`, findings);
  return { kind: 'action', actionType };
}

function readSubworkflow(raw: JsonObject, at: string, findings: Findings): DraftStep | null {
  const workflowId = textIn(raw.workflowId);
  if (workflowId === null) {
    if (raw.workflowId !== undefined) return null;
    const suggestion = 'add "workflowId", the id of the workflow to invoke';
    findings.error('MISSING_WORKFLOW_ID', at, 'a subworkflow node needs `workflowId`', suggestion);
    return null;
  }
  ignoreFields(raw, at, ['actionType'], 'a subworkflow', findings);
  return {
    kind: 'subworkflow',
    workflowId,
    version: numberIn(raw.workflowVersion, null),
    waitForCompletion: flagIn(raw.waitForCompletion, true),
  };
}

function ignoreFields(raw: JsonObject, at: string, fields: string[], type: string, findings: Findings): void {
  for (const field of fields.filter((name) => raw[name] !== undefined)) {
    const message = `\`${field}\` means nothing on ${type} node`;
    findings.warning('IGNORED_FIELD', `${at}/${field}`, message, 'remove it, or check `nodeType`');
  }
}

function readPolicy(raw: JsonObject, step: DraftStep | null, defaults: DefinitionDefaults): NodePolicy {
  if (step?.kind === 'sleep' && raw.timeoutMs === undefined) return WAITING_POLICY;
  const inherited = step?.kind === 'subworkflow' ? defaults.childTimeoutMs : defaults.attemptTimeoutMs;
  // A child has retried its own nodes already; running all of it again is something to ask for.
  const once = step?.kind === 'subworkflow' && raw.retry === undefined;
  return {
    timeoutMs: numberIn(raw.timeoutMs, inherited),
    rerenderOnRetry: flagIn(raw.rerenderOnRetry, false),
    retry: once ? WAITING_POLICY.retry : readRetry(objectIn(raw.retry), defaults.retry),
  };
}

function readRetry(raw: JsonObject, otherwise: RetryPolicy): RetryPolicy {
  return {
    maxAttempts: numberIn(raw.maxAttempts, otherwise.maxAttempts),
    baseDelayMs: numberIn(raw.baseDelayMs, otherwise.baseDelayMs),
    backoffFactor: numberIn(raw.backoffFactor, otherwise.backoffFactor),
    maxDelayMs: otherwise.maxDelayMs,
    jitter: flagIn(raw.jitter, otherwise.jitter),
  };
}

/** In the order of the definition, the implicit edge of `onFailure` last. */
function readEdges(raw: JsonObject, owner: number, nodeAt: string): DraftEdge[] {
  const edges = listIn(raw.edges).flatMap((value, index): DraftEdge[] => {
    const edge = objectIn(value);
    const at = `${nodeAt}/edges/${index}`;
    const other = located(edge.targetNode, `${at}/targetNode`);
    if (other === null) return [];
    const when = choiceIn(edge.when, ['success', 'failure', 'always'], 'success');
    const condition = located(edge.condition, `${at}/condition`);
    return [{ owner, other, direction: 'fromOwner', when, condition, implicit: false }];
  });
  const other = located(raw.onFailure, `${nodeAt}/onFailure`);
  if (other !== null) {
    edges.push({ owner, other, direction: 'fromOwner', when: 'failure', condition: null, implicit: true });
  }
  return edges;
}

function located(value: Json | undefined, at: string): Located<string> | null {
  const text = textIn(value);
  return text === null ? null : { value: text, at };
}

function readSnapshot(raw: JsonObject, { snapshot }: DefinitionDefaults): Plan['snapshot'] {
  return {
    mode: choiceIn(raw.mode, ['Full', 'SummaryOnly', 'KeysOnly'], snapshot.mode),
    keysToInclude:
      raw.keysToInclude === undefined
        ? snapshot.keysToInclude
        : listIn(raw.keysToInclude).map((key) => textIn(key) ?? ''),
    maxContextSizeBytes: numberIn(raw.maxContextSizeBytes, snapshot.maxContextSizeBytes),
    overflowBehavior: choiceIn(
      raw.overflowBehavior,
      ['Fail', 'AutoPruneOldest', 'DropOversize'],
      snapshot.overflowBehavior,
    ),
  };
}

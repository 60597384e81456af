// Reads a graph workflow into a draft: defaults applied, `onFailure` as an implicit edge, `core.delay` as a sleep. Checks what
// the schema cannot express: the required fields of each node type.

import type { Json, JsonObject } from '../json/json.ts';
import { DEFAULT_COMPENSATION_MS, type NodePolicy, type Plan, type RetryPolicy, type RetryRule } from '../plan/plan.ts';
import type { Findings } from '../problem/problem.ts';
import { DEFINITION_DEFAULTS, type DefinitionDefaults, WAITING_POLICY } from './defaults.ts';
import { DELAY_ACTION, readDelay } from './delay.ts';
import type { Draft, DraftBody, DraftEdge, DraftNode, DraftStep, Located, ReadOptions } from './draft.ts';
import { choiceIn, flagIn, listIn, millisecondsIn, numberIn, objectIn, textIn } from './json-read.ts';
import { readLoop } from './loop.ts';
import { readWait } from './wait.ts';

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
    timeoutMs: millisecondsIn(definition.timeoutMs, defaults.graphTimeoutMs),
    outputs: definition.outputs === undefined ? null : { value: definition.outputs, at: '/outputs' },
    vars: objectIn(definition.vars),
    scope: {},
    snapshot: readSnapshot(objectIn(definition.snapshot), defaults),
    namedVersion: null,
    finally: listIn(definition.finally).flatMap((name, index) => located(name, `/finally/${index}`) ?? []),
    ...(definition.compensationTimeoutMs === undefined
      ? {}
      : { compensationTimeoutMs: millisecondsIn(definition.compensationTimeoutMs, DEFAULT_COMPENSATION_MS) }),
  };
}

function readCompensation(raw: JsonObject, at: string): Pick<DraftNode, 'compensate'> {
  const compensate = located(raw.compensate, `${at}/compensate`);
  return compensate === null ? {} : { compensate };
}

function readNode(raw: JsonObject, at: string, findings: Findings, defaults: DefinitionDefaults): DraftNode {
  const body = raw.body === undefined ? null : readBody(objectIn(raw.body), `${at}/body`, findings, defaults);
  const step = body === null ? readStep(raw, at, findings) : readBodyStep(raw, at, findings);
  return {
    ...readLoop(raw, at, body, findings),
    ...readCompensation(raw, at),
    id: textIn(raw.id) ?? '',
    at,
    idAt: `${at}/id`,
    step,
    actionAt: step?.kind === 'action' && body === null ? `${at}/actionType` : null,
    parameters: readParameters(raw, step, at),
    policy: readPolicy(objectIn(raw.policies), step, defaults),
    retryCodes: readRetryCodes(raw, at),
    join: readJoin(raw.join, at),
    condition: null,
    routePolicy: choiceIn(raw.routePolicy, ['parallel', 'firstMatch'], 'parallel'),
    dispatch: null,
  };
}

function readBody(raw: JsonObject, at: string, findings: Findings, defaults: DefinitionDefaults): DraftBody {
  const nodes: DraftNode[] = [];
  const edges: DraftEdge[] = [];
  listIn(raw.nodes).forEach((value, index) => {
    const inner = objectIn(value);
    const place = `${at}/nodes/${index}`;
    edges.push(...readEdges(inner, nodes.length, place));
    nodes.push(
      readNode(
        { ...inner, forEach: undefined, repeat: undefined, body: undefined } as never,
        place,
        findings,
        defaults,
      ),
    );
  });
  const startNode = located(raw.startNode, `${at}/startNode`);
  return {
    startNode,
    nodes,
    edges,
    outputs: raw.outputs === undefined ? null : { value: raw.outputs, at: `${at}/outputs` },
  };
}

/** A placeholder for the body, which is read separately. */
function readBodyStep(raw: JsonObject, at: string, findings: Findings): DraftStep {
  const unread = [
    'actionType',
    'workflowId',
    'workflowVersion',
    'waitForCompletion',
    'parameters',
    'policies',
    ...END_FIELDS,
  ];
  ignoreFields(raw, at, unread, 'a body', findings);
  return { kind: 'action', actionType: '' };
}

function readStep(raw: JsonObject, at: string, findings: Findings): DraftStep | null {
  if (raw.nodeType === 'end') return readEnd(raw, at, findings);
  if (raw.nodeType === 'wait') return readGraphWait(raw, at, findings);
  ignoreFields(
    raw,
    at,
    [...END_FIELDS, ...WAIT_FIELDS],
    raw.nodeType === 'subworkflow' ? 'a subworkflow' : 'an action',
    findings,
  );
  return raw.nodeType === 'subworkflow' ? readSubworkflow(raw, at, findings) : readAction(raw, at, findings);
}

const WAIT_FIELDS = ['callback', 'events', 'timeoutMs', 'onTimeout', 'count', 'until'];

function readGraphWait(raw: JsonObject, at: string, findings: Findings): DraftStep {
  const unread = ['actionType', 'workflowId', 'parameters', 'policies', 'forEach', 'repeat', ...END_FIELDS];
  ignoreFields(raw, at, unread, 'a wait', findings);
  const { callback, events, onTimeout, count, until } = raw;
  return readWait(
    { callback, events, timeoutMs: millisecondsIn(raw.timeoutMs, null), onTimeout, count, until },
    at,
    findings,
  );
}

const END_FIELDS = ['status', 'outputs', 'error'];

function readEnd(raw: JsonObject, at: string, findings: Findings): DraftStep {
  const status = choiceIn(raw.status, ['Succeeded', 'Failed'], 'Succeeded');
  const unused = status === 'Succeeded' ? 'error' : 'outputs';
  if (raw[unused] !== undefined) {
    const message = `an end node that ends as ${status} has no \`${unused}\``;
    findings.error('END_CONFLICT', `${at}/${unused}`, message, `remove it, or change \`status\``);
  }
  for (const field of ['edges', 'onFailure'].filter((name) => listIn(raw[name]).length > 0 || textIn(raw[name]))) {
    findings.error('END_CONFLICT', `${at}/${field}`, 'nothing comes after an end node', 'remove it');
  }
  const unread = ['actionType', 'workflowId', 'parameters', 'policies'];
  ignoreFields(raw, at, unread, 'an end', findings);
  return { kind: 'end', status };
}

function readParameters(raw: JsonObject, step: DraftStep | null, at: string): Located<Json> | null {
  if (step?.kind === 'sleep' || step?.kind === 'wait') return null;
  if (step?.kind !== 'end') return { value: objectIn(raw.parameters), at: `${at}/parameters` };
  const field = step.status === 'Succeeded' ? 'outputs' : 'error';
  return raw[field] === undefined ? null : { value: raw[field], at: `${at}/${field}` };
}

function readJoin(join: Json | undefined, at: string): DraftNode['join'] {
  if (join === undefined || typeof join === 'string') return choiceIn(join, ['any', 'all'] as const, 'any');
  const { first, cancelRest } = objectIn(join);
  const located = { value: numberIn(first, 1), at: `${at}/join/first` };
  return { first: located, cancelRest: flagIn(cancelRest, false) };
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
  const connection = textIn(raw.connection);
  return connection === null ? { kind: 'action', actionType } : { kind: 'action', actionType, connection };
}

function readSubworkflow(raw: JsonObject, at: string, findings: Findings): DraftStep | null {
  const workflowId = textIn(raw.workflowId);
  if (workflowId === null) {
    if (raw.workflowId !== undefined) return null;
    const suggestion = 'add "workflowId", the id of the workflow to invoke';
    findings.error('MISSING_WORKFLOW_ID', at, 'a subworkflow node needs `workflowId`', suggestion);
    return null;
  }
  ignoreFields(raw, at, ['actionType', 'connection'], 'a subworkflow', findings);
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
  if (step?.kind === 'wait' || (step?.kind === 'sleep' && raw.timeoutMs === undefined)) return WAITING_POLICY;
  const inherited = step?.kind === 'subworkflow' ? defaults.childTimeoutMs : defaults.attemptTimeoutMs;
  // A child has already retried its own nodes, so it runs once unless the author asks for more.
  const once = step?.kind === 'subworkflow' && raw.retry === undefined;
  const policy = {
    timeoutMs: millisecondsIn(raw.timeoutMs, inherited),
    rerenderOnRetry: flagIn(raw.rerenderOnRetry, false),
    retry: once ? WAITING_POLICY.retry : readRetry(objectIn(raw.retry), defaults.retry),
  };
  if (!Array.isArray(raw.retry)) return policy;
  const rules = raw.retry.map((rule) => readRule(objectIn(rule), defaults.retry));
  const maxAttempts = Math.max(1, ...rules.map((rule) => rule.maxAttempts));
  return { ...policy, retry: { ...policy.retry, maxAttempts }, rules };
}

function readRetryCodes(raw: JsonObject, at: string): Located<string>[] {
  return listIn(objectIn(raw.policies).retry).flatMap((rule, place) =>
    codesIn(objectIn(rule).on, `${at}/policies/retry/${place}/on`),
  );
}

function codesIn(codes: Json | undefined, at: string): Located<string>[] {
  return listIn(codes).map((code, place) => ({ value: textIn(code) ?? '', at: `${at}/${place}` }));
}

function readRule(raw: JsonObject, otherwise: RetryPolicy): RetryRule {
  return { on: listIn(raw.on).map((code) => textIn(code) ?? ''), ...readRetry(raw, otherwise) };
}

function readRetry(raw: JsonObject, otherwise: RetryPolicy): RetryPolicy {
  return {
    maxAttempts: numberIn(raw.maxAttempts, otherwise.maxAttempts),
    baseDelayMs: millisecondsIn(raw.baseDelayMs, otherwise.baseDelayMs),
    backoffFactor: numberIn(raw.backoffFactor, otherwise.backoffFactor),
    maxDelayMs: millisecondsIn(raw.maxDelayMs, otherwise.maxDelayMs),
    jitter: flagIn(raw.jitter, otherwise.jitter),
  };
}

/** In definition order, with the implicit edge of `onFailure` last. */
function readEdges(raw: JsonObject, owner: number, nodeAt: string): DraftEdge[] {
  const edges = listIn(raw.edges).flatMap((value, index): DraftEdge[] => {
    const edge = objectIn(value);
    const at = `${nodeAt}/edges/${index}`;
    const other = located(edge.targetNode, `${at}/targetNode`);
    if (other === null) return [];
    const when = choiceIn(edge.when, ['success', 'failure', 'always'], 'success');
    const condition = located(edge.condition, `${at}/condition`);
    const codes = codesIn(edge.codes, `${at}/codes`);
    const named = codes.length === 0 ? {} : { codes };
    return [{ owner, other, direction: 'fromOwner', when, condition, implicit: false, ...named }];
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

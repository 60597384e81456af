// Reads an ExecutionPlan, v1 or v2 (docs/plans.md), into a draft. `foreach` is the `forEach` of graphs. A loop over an artifact
// gets an extra node that reads the artifact: its recorded output is the list, so the items are the same however often it is
// read.

import { DURATION_FORMS, parseDuration } from '../duration/duration.ts';
import { didYouMean } from '../expression/problem.ts';
import { isJsonObject, type JsonObject } from '../json/json.ts';
import {
  type Dispatch,
  HOOK_ROOTS,
  type PluginRef,
  type RetryPolicy,
  type SecretRef,
  type StepHook,
  type StepHooks,
} from '../plan/plan.ts';
import type { Findings } from '../problem/problem.ts';
import { compileTemplate } from '../template/compile.ts';
import { DEFINITION_DEFAULTS, type DefinitionDefaults } from './defaults.ts';
import { DELAY_ACTION, readDelay } from './delay.ts';
import { readDependencies } from './dependency.ts';
import type { Draft, DraftCondition, DraftEdge, DraftLoop, DraftNode, DraftStep, ReadOptions } from './draft.ts';
import { listIn, objectIn, textIn } from './json-read.ts';
import { readForEach } from './loop.ts';

const DISPATCH_KEYS = ['taskQueue', 'workerPool', 'runtime', 'resourceClass'] as const;
const PLUGIN_KEYS = ['pluginVersion', 'pluginDigest', 'inputSchemaRef', 'outputSchemaRef'] as const;

export function readExecutionPlan(definition: JsonObject, findings: Findings, options: ReadOptions): Draft {
  const nodes: DraftNode[] = [];
  const edges: DraftEdge[] = [];
  const { planId, planVersion, schemaVersion } = objectIn(definition.metadata);
  const isSecond = schemaVersion === 'v2';
  checkHooksVersion(definition, '', isSecond, findings);
  if (definition.schemaVersion !== undefined && definition.schemaVersion !== schemaVersion) {
    const message = 'is another version than that of the metadata';
    findings.error('NOT_ALLOWED', '/schemaVersion', message, 'write the same, or leave this one out');
  }
  listIn(definition.steps).forEach((value, index) => {
    const raw = objectIn(value);
    const at = `/steps/${index}`;
    checkVersion(raw, at, isSecond, findings);
    const dependencies = (owner: number) =>
      readDependencies(raw.dependsOn, owner, `${at}/dependsOn`, 'success', findings);
    const node = readStepNode(raw, at, findings, options, hooksFor(raw, at, definition, findings));
    const reader = artifactReader(raw, node);
    if (reader !== null) {
      edges.push(...dependencies(nodes.length), dependencyOn(reader, nodes.length + 1));
      nodes.push(reader, { ...node, ...readStepLoop(raw, at, itemsOf(reader, isSecond)) });
      return;
    }
    edges.push(...dependencies(nodes.length));
    nodes.push(node);
  });
  return {
    format: 'plan',
    id: textIn(planId) ?? '',
    startNode: null,
    nodes,
    edges,
    onUnhandledFailure: 'drain',
    timeoutMs: null,
    outputs: null,
    vars: {},
    scope: objectIn(definition.scope),
    snapshot: defaultsOf(options).snapshot,
    namedVersion: textIn(planVersion) ?? '',
    ...(isSecond ? { contract: 'wrapped' as const } : {}),
  };
}

/** Fields of schema version 2. A v1 plan with one of them was meant to be v2. */
function checkVersion(raw: JsonObject, at: string, isSecond: boolean, findings: Findings): void {
  checkHooksVersion(raw, at, isSecond, findings);
  if (isSecond) return;
  listIn(raw.dependsOn).forEach((value, index) => {
    if (isJsonObject(value))
      findings.error(
        'NEEDS_V2',
        `${at}/dependsOn/${index}`,
        'conditions of dependencies need schema version v2',
        SECOND,
      );
  });
}

function checkHooksVersion(raw: JsonObject, at: string, isSecond: boolean, findings: Findings): void {
  if (raw.hooks !== undefined && !isSecond)
    findings.error('NEEDS_V2', `${at}/hooks`, 'hooks need schema version v2', SECOND);
}

const SECOND = 'set `metadata.schemaVersion` to "v2"; `pawl upgrade-plan` does it where nothing else has to change';

/** The hooks of the step, or else of the plan. */
function hooksFor(raw: JsonObject, at: string, plan: JsonObject, findings: Findings): StepHooks | null {
  const [given, place] = raw.hooks === undefined ? [plan.hooks, '/hooks'] : [raw.hooks, `${at}/hooks`];
  const hooks: { preStep?: StepHook; postStep?: StepHook } = {};
  for (const phase of ['preStep', 'postStep'] as const) {
    const hook = objectIn(objectIn(given)[phase]);
    const actionType = textIn(hook.type);
    if (actionType === null) continue;
    const inputs = objectIn(hook.inputs);
    const compiled = compileTemplate(inputs, { roots: HOOK_ROOTS, dialect: 'javascript' });
    for (const { path, message, hint } of compiled.ok ? [] : compiled.problems) {
      const pointer = [place, phase, 'inputs', ...path].join('/');
      findings.error('BAD_TEMPLATE', pointer, message, hint ?? `a hook reads ${HOOK_ROOTS.join(', ')}`);
    }
    hooks[phase] = { actionType, inputs };
  }
  return Object.keys(hooks).length === 0 ? null : hooks;
}

const ARTIFACT_PATH = /\.artifactRefs\[\d+\]$/;

/** The node that reads a loop's list from an artifact; null: the list is an output. */
function artifactReader(raw: JsonObject, { id, at, policy }: DraftNode): DraftNode | null {
  const from = textIn(objectIn(raw.foreach).from);
  if (from === null || !ARTIFACT_PATH.test(from)) return null;
  return {
    id: `${id}.items`,
    at,
    idAt: `${at}/stepId`,
    step: { kind: 'action', actionType: 'core.read-artifact' },
    actionAt: `${at}/foreach/from`,
    parameters: { value: { artifact: `{{ steps.${from} }}` }, at: `${at}/foreach/from` },
    policy,
    join: 'all',
    condition: null,
    routePolicy: 'parallel',
    dispatch: null,
  };
}

function itemsOf({ id }: DraftNode, isSecond: boolean): string {
  return `{{ steps['${id.replaceAll(/['\\]/g, '\\$&')}'].output.${isSecond ? 'metadata.' : ''}value }}`;
}

function dependencyOn({ id, at }: DraftNode, owner: number): DraftEdge {
  const other = { value: id, at: `${at}/foreach/from` };
  return { owner, other, direction: 'toOwner', when: 'success', condition: null, implicit: false };
}

function readStepNode(
  raw: JsonObject,
  at: string,
  findings: Findings,
  options: ReadOptions,
  hooks: StepHooks | null,
): DraftNode {
  const step = readStep(raw, at, findings, hooks);
  return {
    ...readStepLoop(raw, at),
    id: textIn(raw.stepId) ?? '',
    at,
    idAt: `${at}/stepId`,
    step,
    // The type of a plugin's step is the plugin's own.
    actionAt: step?.kind === 'action' && step.plugin === undefined ? `${at}/type` : null,
    parameters: step?.kind === 'sleep' ? null : { value: objectIn(raw.inputs), at: `${at}/inputs` },
    policy: {
      timeoutMs: readTimeout(raw, at, findings, defaultsOf(options).attemptTimeoutMs),
      rerenderOnRetry: false,
      retry: readRetry(raw, at, findings, options),
    },
    join: 'all',
    condition: readWhen(raw, at),
    routePolicy: 'parallel',
    dispatch: readDispatch(raw),
  };
}

/** The path leads from a step to the list, like `when.on`. */
function readStepLoop(raw: JsonObject, at: string, list?: string): { loop?: DraftLoop } {
  const from = textIn(objectIn(raw.foreach).from);
  if (from === null) return {};
  const items = { value: list ?? `{{ steps.${from} }}`, at: `${at}/foreach/from` };
  return { loop: readForEach(objectIn(raw.foreach), items, null) };
}

function readStep(raw: JsonObject, at: string, findings: Findings, hooks: StepHooks | null): DraftStep | null {
  const actionType = textIn(raw.type);
  if (actionType === null) return null;
  if (actionType === DELAY_ACTION) return readDelay(objectIn(raw.inputs), `${at}/inputs`, findings);
  const plugin = readPlugin(raw, at, findings);
  const secretRefs = listIn(raw.secretRefs) as unknown as SecretRef[];
  return {
    kind: 'action',
    actionType,
    ...(plugin === null ? {} : { plugin }),
    ...(secretRefs.length === 0 ? {} : { secretRefs }),
    ...(hooks === null ? {} : { hooks }),
  };
}

function readPlugin(raw: JsonObject, at: string, findings: Findings): PluginRef | null {
  const pluginId = textIn(raw.pluginId);
  if (pluginId === null) {
    for (const key of [...PLUGIN_KEYS, 'pluginVersionPolicy'].filter((name) => raw[name] !== undefined)) {
      findings.error('PLUGIN_ID_REQUIRED', `${at}/${key}`, `\`${key}\` needs \`pluginId\` beside it`);
    }
    return null;
  }
  if (textIn(raw.pluginVersion) === null && textIn(raw.pluginDigest) === null) {
    const message = `plugin \`${pluginId}\` is not pinned`;
    findings.error('PLUGIN_UNPINNED', `${at}/pluginId`, message, 'add `pluginVersion` or `pluginDigest`');
  }
  return { pluginId, ...textsIn(raw, PLUGIN_KEYS) };
}

const defaultsOf = ({ defaults = DEFINITION_DEFAULTS }: ReadOptions): DefinitionDefaults => defaults;

function readTimeout(raw: JsonObject, at: string, findings: Findings, otherwise: number): number {
  if (typeof raw.timeout === 'number') return raw.timeout;
  if (typeof raw.timeout !== 'string') return otherwise;
  const ms = parseDuration(raw.timeout);
  if (ms !== null && ms > 0) return ms;
  const message = `"${raw.timeout.slice(0, 60)}" is not a timeout of more than zero and at most ten years`;
  findings.error('BAD_DURATION', `${at}/timeout`, message, `write ${DURATION_FORMS}, or milliseconds as a number`);
  return otherwise;
}

function readRetry(raw: JsonObject, at: string, findings: Findings, options: ReadOptions): RetryPolicy {
  const { retryPolicies } = options;
  const { retry } = defaultsOf(options);
  const name = textIn(raw.retryPolicyRef);
  if (name === null) return retry;
  if (retryPolicies === undefined) {
    const message = `no retry policy \`${name}\` is known here, so it means the default one`;
    const suggestion = 'define it in `definition.retryPolicies` of the server';
    findings.warning('UNKNOWN_RETRY_POLICY', `${at}/retryPolicyRef`, message, suggestion);
    return retry;
  }
  const policy = Object.hasOwn(retryPolicies, name) ? retryPolicies[name] : undefined;
  if (policy === undefined) {
    const suggestion = didYouMean(findings.nearMiss(name, Object.keys(retryPolicies)));
    const message = `there is no retry policy \`${name}\` in the configuration`;
    findings.error('UNKNOWN_RETRY_POLICY', `${at}/retryPolicyRef`, message, suggestion);
  }
  return { ...retry, ...policy };
}

function readWhen(raw: JsonObject, at: string): DraftCondition | null {
  const when = objectIn(raw.when);
  const expression = textIn(when.expression);
  const on = textIn(when.on);
  if (expression === null) return null;
  return {
    value: expression,
    at: `${at}/when/expression`,
    on: on === null ? null : { value: on, at: `${at}/when/on` },
  };
}

function readDispatch(raw: JsonObject): Dispatch | null {
  const dispatch = textsIn(objectIn(raw.dispatch), DISPATCH_KEYS);
  const tags = raw.observabilityTags;
  if (isJsonObject(tags)) return { ...dispatch, tags };
  return Object.keys(dispatch).length === 0 ? null : dispatch;
}

function textsIn<K extends string>(raw: JsonObject, keys: readonly K[]): { [P in K]?: string } {
  const texts: { [P in K]?: string } = {};
  for (const key of keys) {
    const text = textIn(raw[key]);
    if (text !== null) texts[key] = text;
  }
  return texts;
}

// The one way in: any value becomes a Plan, or a list of everything that is wrong with it. Total: it throws for no input.
// The same definition gives the same plan and checksum, whatever the order of its keys. Stages: json → format → schema →
// read → link → shape → expressions → plan; a stage goes on as far as what the earlier ones found allows.

import type { z } from 'zod';
import { parseExpression } from '../expression/parse.ts';
import { didYouMean } from '../expression/problem.ts';
import { isJsonObject, type JsonObject } from '../json/json.ts';
import { withChecksum } from '../plan/checksum.ts';
import type { Format, Plan } from '../plan/plan.ts';
import { Findings, type Problem } from '../problem/problem.ts';
import { allAtOnce, type Steps } from '../steps/steps.ts';
import { assemble } from './assemble.ts';
import { checkSleeps } from './delay.ts';
import { allDraftNodes, type Draft, type Located, type ReadOptions } from './draft.ts';
import { readExecutionPlan } from './execution-plan.ts';
import { ExpressionCompiler, type OutputFields } from './expressions.ts';
import { readGraph } from './graph.ts';
import { graphSchema } from './graph-schema.ts';
import { checkCodes, checkJoins, type RaisedCodes } from './join-check.ts';
import { checkJsonInSteps } from './json-check.ts';
import { MAX_EDGES, MAX_NODES } from './limits.ts';
import { findNode, link } from './link.ts';
import { readPipeline, withoutNulls } from './pipeline.ts';
import { pipelineSchema } from './pipeline-schema.ts';
import { planSchema } from './plan-schema.ts';
import { checkSchemaInSteps } from './schema-check.ts';
import { checkShape } from './shape.ts';
import { WORDING } from './wording.ts';

export type CompileResult =
  | { ok: true; format: Format; plan: Plan; warnings: Problem[] }
  | { ok: false; format: Format | null; problems: Problem[] };

export interface CompileOptions extends ReadOptions {
  /** The known action types; without them, types are not checked. */
  readonly actions?: ReadonlySet<string>;
  /** Of an action that is not among them: it may exist where the definition runs, so it is a warning. */
  readonly mayBeElsewhere?: (type: string) => boolean;
  /** The codes that actions declare; without them, codes are not checked. */
  readonly raisedCodes?: RaisedCodes;
  /** What actions return; without it, the fields that expressions read are not checked. */
  readonly outputFields?: OutputFields | undefined;
  readonly maxNodes?: number;
  /** The definition was accepted before: only what was always refused is refused. */
  readonly isStored?: boolean;
}

interface FrontEnd {
  readonly schema: z.ZodType;
  /** The member that holds the nodes. */
  readonly nodes: string;
  /** What counts of what was written; absent: all of it. */
  given?(definition: JsonObject): JsonObject;
  read(definition: JsonObject, findings: Findings, options: ReadOptions): Draft;
}

const FRONT_ENDS: Readonly<Record<Format, FrontEnd>> = {
  graph: { schema: graphSchema, nodes: 'nodes', read: readGraph },
  pipeline: { schema: pipelineSchema, nodes: 'tasks', given: withoutNulls, read: readPipeline },
  plan: { schema: planSchema, nodes: 'steps', read: readExecutionPlan },
};

export function compileDefinition(definition: unknown, options: CompileOptions = {}): CompileResult {
  return allAtOnce(compileInSteps(definition, options));
}

/** For a server: a definition of a megabyte takes most of a second to compile, and other requests must not wait for it (S4). */
export function* compileInSteps(definition: unknown, options: CompileOptions = {}): Steps<CompileResult> {
  const format = detectFormat(definition);
  const findings = new Findings({ isStored: options.isStored });
  const isJson = yield* checkJsonInSteps(definition, findings);
  const plan = isJson ? yield* compileJson(definition, format, options, findings) : null;
  if (plan === null) return { ok: false, format, problems: findings.problems() };
  return { ok: true, format: plan.format, plan, warnings: findings.problems() };
}

export function detectFormat(definition: unknown): Format | null {
  if (!isJsonObject(definition)) return null;
  if (Object.hasOwn(definition, 'nodes')) return 'graph';
  if (Object.hasOwn(definition, 'tasks')) return 'pipeline';
  return Object.hasOwn(definition, 'steps') && Object.hasOwn(definition, 'metadata') ? 'plan' : null;
}

function* compileJson(
  written: unknown,
  format: Format | null,
  options: CompileOptions,
  findings: Findings,
): Steps<Plan | null> {
  if (format === null || !isJsonObject(written)) {
    reportUnknownFormat(written, findings);
    return null;
  }
  const frontEnd = FRONT_ENDS[format];
  const definition = frontEnd.given?.(written) ?? written;
  if (!fits(definition, format, options, findings)) return null;
  yield;
  yield* checkSchemaInSteps(frontEnd.schema, definition, findings);
  yield;
  const draft = frontEnd.read(definition, findings, options);
  yield;
  if (draft.edges.length > MAX_EDGES) {
    findings.error('TOO_MANY_EDGES', '', `there are ${draft.edges.length} edges; the limit is ${MAX_EDGES}`);
    return null;
  }
  const links = link(draft, findings);
  draft.snapshot.keysToInclude.forEach((value, index) => {
    if (value !== '') findNode({ value, at: `/snapshot/keysToInclude/${index}` }, links.byName, findings, format);
  });
  checkSleeps(draft, findings);
  checkJoins(draft, links, findings);
  checkCodes(draft, options.raisedCodes, findings);
  if (options.actions !== undefined) {
    checkActions(draft, options.actions, findings, options.mayBeElsewhere);
    checkTransforms(draft, findings);
    checkSupport(draft, findings);
  }
  yield;
  const isUpstream = checkShape(draft, links, findings);
  const { outputFields } = options;
  const expressions = new ExpressionCompiler(draft, links, isUpstream, findings, null, outputFields);
  const plan = yield* assemble(draft, links, expressions);
  return findings.hasErrors ? null : withChecksum(plan);
}

function fits(definition: JsonObject, format: Format, options: CompileOptions, findings: Findings): boolean {
  const frontEnd = FRONT_ENDS[format];
  const nodes = definition[frontEnd.nodes]!;
  const count = typeof nodes === 'object' && nodes !== null ? Object.keys(nodes).length : 0;
  const limit = options.maxNodes ?? MAX_NODES;
  if (count <= limit) return true;
  const message = `there are ${count} ${frontEnd.nodes}; the limit is ${limit}`;
  findings.error('TOO_MANY_NODES', `/${frontEnd.nodes}`, message, WORDING[format].makeSmaller);
  return false;
}

function reportUnknownFormat(definition: unknown, findings: Findings): void {
  const message = isJsonObject(definition)
    ? 'not a definition: a graph has `nodes`, a pipeline `tasks`, an execution plan `metadata` and `steps`, a lifecycle `states` and `transitions`'
    : 'a workflow definition is a JSON object';
  const keys = isJsonObject(definition) ? Object.keys(definition).slice(0, 100) : [];
  const near = keys.map((key) => findings.nearMiss(key, ['nodes', 'tasks', 'steps', 'metadata'])).find(Boolean);
  findings.error('UNKNOWN_FORMAT', '', message, didYouMean(near));
}

/**
 * A workflow that starts itself, which the engine refuses unless `engine.allowRecursion` is on. Checked only where the list of actions
 * is known: a draft may be ahead of it.
 */
function checkSupport({ id, nodes }: Draft, findings: Findings): void {
  for (const { step, at } of allDraftNodes({ nodes })) {
    if (step?.kind !== 'subworkflow' || step.workflowId !== id) continue;
    const suggestion = 'that fails unless engine.allowRecursion is on';
    findings.warning('SUBWORKFLOW_RECURSION', `${at}/workflowId`, 'the workflow starts itself', suggestion);
  }
}

const TRANSFORM_ACTION = 'core.transform';

/** `core.transform` takes an expression as a parameter. A literal one is checked here, because a bad one would fail every execution. */
function checkTransforms(draft: Draft, findings: Findings): void {
  for (const { step, parameters } of allDraftNodes(draft)) {
    if (step?.kind !== 'action' || step.actionType !== TRANSFORM_ACTION) continue;
    const { value, at } = parameters as Located<JsonObject>;
    const { expression } = value;
    // A template is known only at run time.
    if (typeof expression !== 'string' || expression.includes('{{')) continue;
    const parsed = parseExpression(expression, { roots: ['input'], dialect: 'javascript' });
    if (parsed.ok) continue;
    const isOneLine = !expression.includes('\n');
    for (const problem of parsed.problems) {
      findings.syntaxError('BAD_EXPRESSION', `${at}/expression`, problem, isOneLine && problem.line === 1);
    }
  }
}

const WHERE_ACTIONS_ARE =
  '`GET /api/v1/actions` lists what there is; actions of your own are in the folder of `--actions`';

/** `mayBeElsewhere`: says of an unknown action that the server which runs the definition may know it. */
function checkActions(
  draft: Draft,
  actions: ReadonlySet<string>,
  findings: Findings,
  mayBeElsewhere: (type: string) => boolean = () => false,
): void {
  for (const { step, actionAt, dispatch } of allDraftNodes(draft)) {
    if (actionAt === null || step?.kind !== 'action' || actions.has(step.actionType)) continue;
    const queue = dispatch?.taskQueue;
    if (queue !== undefined) {
      const message = `there is no action \`${step.actionType}\` here: a worker of task queue \`${queue}\` must know it`;
      findings.warning(
        'UNKNOWN_ACTION',
        actionAt,
        message,
        'publish again where the action is known, to have it checked',
      );
      continue;
    }
    if (mayBeElsewhere(step.actionType)) {
      const message = `no action \`${step.actionType}\` comes with Pawl: the server must know it`;
      findings.warning('UNKNOWN_ACTION', actionAt, message, 'name the folder of your own actions with `--actions`');
      continue;
    }
    const suggestion = didYouMean(findings.nearMiss(step.actionType, actions)) ?? WHERE_ACTIONS_ARE;
    findings.error('UNKNOWN_ACTION', actionAt, `there is no action \`${step.actionType}\``, suggestion);
  }
}

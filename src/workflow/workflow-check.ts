// The checks that a definition must pass before it is stored or published: schema, references and conditions by the compiler;
// existing and enabled actions by the catalog; and, optionally, a trial rendering of its parameters. All problems are reported at
// once, as WFENG005 with a list.

import { inTurns } from '../clock/in-turns.ts';
import { type CompileOptions, compileInSteps } from '../core/definition/compile.ts';
import type { OutputFields } from '../core/definition/expressions.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import type { Format, Plan } from '../core/plan/plan.ts';
import { childPointer } from '../core/problem/pointer.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { CatalogStore } from '../store/catalog-port.ts';
import { dryRunProblems } from './workflow-dry-run.ts';

export interface CheckedDefinition {
  readonly format: Format;
  readonly plan: Plan;
  readonly warnings: Problem[];
}

interface CatalogEntry {
  /** Also false when its connector is disabled. */
  readonly isEnabled: boolean;
  readonly deprecationNotice: string | null;
  readonly parameterSchema: string;
  readonly outputSchema: string;
  readonly connectorId: string;
  /** The error codes of the action; null: it does not declare any. */
  readonly codes: readonly string[] | null;
}

export type ActionCatalog = ReadonlyMap<string, CatalogEntry>;

export interface PublishOptions {
  /** Renders every parameter at publish, with an empty trigger. */
  readonly validateParameterTemplates: boolean;
  /** The installation's options for definitions. */
  readonly compile?: Omit<CompileOptions, 'actions'>;
  /** Features of the plan that its engine does not support; `driver` is the one the definition names. */
  readonly engineProblems?: (plan: Plan, driver: Json | undefined) => Problem[];
}

export interface CheckOptions {
  readonly catalog?: ActionCatalog;
  readonly options?: PublishOptions | undefined;
  readonly more?: readonly Problem[];
}

/** Without a catalog: the checks of a draft, which may name future actions. `more`: problems found elsewhere. */
export async function checkDefinition(
  definition: Json,
  { catalog, options, more = [] }: CheckOptions = {},
): Promise<CheckedDefinition> {
  const actions = catalog === undefined ? {} : knownActions(catalog);
  const compiled = await inTurns(compileInSteps(definition, { ...options?.compile, ...actions }));
  const uses = catalog === undefined ? [] : actionUses(definition).map((use) => availability(use, catalog));
  const found = [...(compiled.ok ? compiled.warnings : compiled.problems), ...more, ...uses.flat()];
  if (compiled.ok && options?.validateParameterTemplates === true) found.push(...dryRunProblems(compiled.plan));
  if (compiled.ok && options?.engineProblems !== undefined) {
    const driver = isJsonObject(definition) ? definition.driver : undefined;
    found.push(...options.engineProblems(compiled.plan, driver));
  }
  const isWarning = ({ severity }: Problem) => severity === 'warning';
  if (!compiled.ok || !found.every(isWarning)) throw invalid(found);
  return { format: compiled.format, plan: compiled.plan, warnings: found };
}

const knownActions = (catalog: ActionCatalog) => ({
  actions: new Set(catalog.keys()),
  raisedCodes: raisedCodes(catalog),
  outputFields: outputFields([...catalog].map(([type, { outputSchema }]) => [type, JSON.parse(outputSchema) as Json])),
});

/** Of the schemas that allow no further fields. */
export function outputFields(schemas: readonly (readonly [type: string, schema: Json])[]): OutputFields {
  return new Map(
    schemas.flatMap(([type, schema]) => {
      const isClosed =
        isJsonObject(schema) && schema.additionalProperties === false && isJsonObject(schema.properties ?? null);
      return isClosed ? [[type, Object.keys(schema.properties as JsonObject)] as const] : [];
    }),
  );
}

function raisedCodes(catalog: ActionCatalog): Map<string, readonly string[]> {
  return new Map([...catalog].flatMap(([type, { codes }]) => (codes === null ? [] : [[type, codes] as const])));
}

export function invalid(problems: readonly Problem[], code: 'WFENG005' | 'LIFECYCLE_INVALID' = 'WFENG005'): PawlError {
  const errors = problems.filter(({ severity }) => severity !== 'warning');
  const [first] = errors;
  const where = first === undefined || first.path === '' ? '' : ` (at ${first.path})`;
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : '';
  return new PawlError(code, `the definition is not valid: ${first?.message}${where}${more}`, problems);
}

export async function readCatalog(store: Pick<CatalogStore, 'actionList' | 'connectorList'>): Promise<ActionCatalog> {
  const [actions, connectors] = await Promise.all([store.actionList({}), store.connectorList()]);
  const disabled = new Set(connectors.filter(({ isEnabled }) => !isEnabled).map(({ id }) => id));
  return new Map(
    actions.map(({ id, connectorId, isEnabled, deprecationNotice, parameterSchema, outputSchema, codes }) => [
      id,
      {
        ...{ deprecationNotice, parameterSchema, outputSchema, connectorId, codes },
        isEnabled: isEnabled && !disabled.has(connectorId),
      },
    ]),
  );
}

/** Warnings about actions that were disabled or deprecated after the definition was written. */
export async function actionNotices(store: Pick<CatalogStore, 'actionsNoticed'>, definition: Json): Promise<Problem[]> {
  const uses = actionUses(definition);
  if (uses.length === 0) return [];
  const noticed = new Map((await store.actionsNoticed()).map((notice) => [notice.id, notice]));
  return uses.flatMap((use) => availability(use, noticed)).map((notice) => ({ ...notice, severity: 'warning' }));
}

interface ActionUse {
  readonly type: string;
  readonly path: string;
  readonly parameters?: Json | undefined;
  /** null: they are not literal, or more is added to them later. */
  readonly parametersAt: string | null;
}

/** From the written definition, so they are known whatever else is wrong with it. */
export function actionUses(definition: Json): ActionUse[] {
  if (!isJsonObject(definition)) return [];
  return [
    ...listUses(writtenNodes(definition), { type: 'actionType', parameters: 'parameters' }),
    ...listUses(placed(definition.steps, '/steps'), { type: 'type', parameters: 'inputs' }),
    ...taskUses(definition.tasks),
  ];
}

interface WrittenNode {
  readonly at: string;
  readonly node: JsonObject;
}

/** The nodes of a graph, and those of the bodies of its loops. */
export function writtenNodes(definition: Json): WrittenNode[] {
  const nodes = placed(isJsonObject(definition) ? definition.nodes : undefined, '/nodes');
  return nodes.flatMap((one) => {
    const { body } = one.node;
    return [one, ...(isJsonObject(body) ? placed(body.nodes, `${one.at}/body/nodes`) : [])];
  });
}

function placed(list: Json | undefined, at: string): WrittenNode[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((node, index) => (isJsonObject(node) ? [{ at: `${at}/${index}`, node }] : []));
}

function listUses(
  list: readonly WrittenNode[],
  keys: { readonly type: string; readonly parameters: string },
): ActionUse[] {
  return list.flatMap(({ at, node: item }) => {
    const type = item.nodeType === 'subworkflow' ? undefined : item[keys.type];
    if (typeof type !== 'string') return [];
    // The compiler checks a delay; secrets are merged into a step's parameters.
    const isOpen = type === 'core.delay' || item.secretRefs !== undefined;
    const parametersAt = isOpen ? null : `${at}/${keys.parameters}`;
    return [{ type, path: `${at}/${keys.type}`, parameters: item[keys.parameters], parametersAt }];
  });
}

function taskUses(tasks: Json | undefined): ActionUse[] {
  if (!isJsonObject(tasks)) return [];
  const calls = Object.entries(tasks).filter(([, task]) => isJsonObject(task) && task.url !== undefined);
  return calls.map(([name]) => ({ type: 'http.step', path: childPointer('/tasks', name), parametersAt: null }));
}

/** The compiler reports actions that do not exist. */
function availability(
  { type, path }: ActionUse,
  catalog: ReadonlyMap<string, Pick<CatalogEntry, 'isEnabled' | 'deprecationNotice'>>,
): Problem[] {
  const entry = catalog.get(type);
  if (entry === undefined) return [];
  const { isEnabled, deprecationNotice } = entry;
  const advice = deprecationNotice ?? 'enable it in the catalog, or use another';
  if (!isEnabled) {
    return [{ code: 'ACTION_DISABLED', path, message: `the action \`${type}\` is disabled`, suggestion: advice }];
  }
  if (deprecationNotice === null) return [];
  const message = `the action \`${type}\` is deprecated`;
  return [{ code: 'ACTION_DEPRECATED', path, message, suggestion: deprecationNotice, severity: 'warning' }];
}

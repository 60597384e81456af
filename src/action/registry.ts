// The actions of this process, fixed at its start. A breaking change gets a new id (`monday.get-items-v2`, version 2.x.y), so
// that authors decide when their workflows move. All problems of all definitions are reported at once. The catalog rows are made
// from the definitions; the store knows what an operator disabled.

import { z } from 'zod';
import type { ActionRow, ConnectorRow } from '../store/catalog-port.ts';
import type { ActionDefinition } from './action.ts';
import { type ConnectorDefinition, connectorFromId, monogram } from './connector.ts';

export interface Registry {
  get(type: string): ActionDefinition | undefined;
  list(): readonly ActionDefinition[];
  /** For the check at publish that every action exists. */
  readonly types: ReadonlySet<string>;
  catalog(): Catalog;
}

interface Catalog {
  readonly connectors: ConnectorRow[];
  readonly actions: ActionRow[];
}

export function createRegistry(
  actions: readonly ActionDefinition[],
  connectors: readonly ConnectorDefinition[] = [],
): Registry {
  const byType = new Map(actions.map((action) => [action.type, action]));
  const problems = [...actions.flatMap(identityProblems), ...duplicateProblems(actions)];
  if (problems.length > 0) throw new Error(`The actions cannot be registered:\n${problems.map(bullet).join('\n')}`);
  return {
    get: (type) => byType.get(type),
    list: () => actions,
    types: new Set(byType.keys()),
    catalog: () => ({ connectors: connectorRows(actions, connectors), actions: actions.map(actionRow) }),
  };
}

const bullet = (problem: string): string => `- ${problem}`;

const CONNECTOR_ID = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const ACTION_NAME = /^[a-z0-9]+([.-][a-z0-9]+)*$/;
/** Step types of execution plans have a form of their own. */
const STEP_TYPE = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;
const SEMANTIC_VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
const MAJOR_SUFFIX = /-v(\d+)$/;

function identityProblems({ type, version, connector }: ActionDefinition): string[] {
  const problems: string[] = [];
  const about = (text: string) => problems.push(`${type}: ${text}`);
  if (!CONNECTOR_ID.test(connector)) {
    about(`the connector "${connector}" must be lower-case words joined by "-", such as "slack"`);
  }
  const isStepType = STEP_TYPE.test(type);
  const name = type.startsWith(`${connector}.`) ? type.slice(connector.length + 1) : null;
  if (!isStepType && (name === null || !ACTION_NAME.test(name))) {
    about(`the type must be "${connector}.<action>" with lower-case words joined by "-", or a STEP_TYPE`);
  }
  const semantic = SEMANTIC_VERSION.exec(version);
  if (semantic === null) {
    about(`the version "${version}" must be MAJOR.MINOR.PATCH, such as "1.0.0"`);
    return problems;
  }
  const major = Number(semantic[1]);
  const suffix = MAJOR_SUFFIX.exec(type)?.[1];
  if (suffix === undefined && major >= 2 && !isStepType) {
    about(`version ${version} needs a type of its own: "${type}-v${major}"`);
  } else if (suffix !== undefined && (Number(suffix) < 2 || Number(suffix) !== major)) {
    about(`the suffix -v${suffix} does not belong to version ${version}; it is used from major version 2 on`);
  }
  return problems;
}

function duplicateProblems(actions: readonly ActionDefinition[]): string[] {
  const counts = new Map<string, number>();
  for (const { type } of actions) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).map(([type, count]) => `${type}: defined ${count} times`);
}

function connectorRows(
  actions: readonly ActionDefinition[],
  connectors: readonly ConnectorDefinition[],
): ConnectorRow[] {
  const described = new Map(connectors.map((connector) => [connector.id, connector]));
  const used = new Set(actions.map(({ connector }) => connector));
  return [...used].map((id) => {
    const connector = described.get(id) ?? connectorFromId(id);
    const { displayName, description, version, authType, documentationUrl, iconUrl, config } = connector;
    const capabilities = actions.filter((action) => action.connector === id).map(({ type }) => type);
    return {
      id,
      displayName,
      description,
      iconUrl: iconUrl ?? monogram(connector),
      documentationUrl: documentationUrl ?? null,
      configSchema: config === undefined ? null : JSON.stringify(z.toJSONSchema(config, { io: 'input' })),
      requiresAuth: authType !== undefined,
      authType: authType ?? null,
      version,
      capabilities,
    };
  });
}

function actionRow(action: ActionDefinition): ActionRow {
  return {
    id: action.type,
    displayName: action.displayName ?? action.type,
    description: action.description ?? '',
    category: action.category,
    connectorId: action.connector,
    parameterSchema: schemaText(action, 'params'),
    outputSchema: schemaText(action, 'outputs'),
    version: action.version,
    deprecationNotice: action.deprecationNotice ?? null,
    tags: [...(action.tags ?? [])],
    codes: action.codes === undefined ? null : [...action.codes],
  };
}

/** Parameters are described as a workflow writes them (before defaults), outputs as a later node reads them. */
function schemaText(action: ActionDefinition, part: 'params' | 'outputs'): string {
  try {
    const io = part === 'params' ? 'input' : 'output';
    return JSON.stringify(z.toJSONSchema(action[part], { io, unrepresentable: 'any' }));
  } catch (cause) {
    throw new Error(`${action.type}: the schema of its ${part} cannot be written as JSON Schema`, { cause });
  }
}

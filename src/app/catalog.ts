// The actions of an installation: built-in ones, those of its folder, and those of the embedding program.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ActionDefinition } from '../action/action.ts';
import { confluenceActions, confluenceConnector } from '../action/confluence/confluence-actions.ts';
import { coreActions, coreConnector } from '../action/core/core-actions.ts';
import { createRenderPool } from '../action/core/render-pool.ts';
import { documentActions } from '../action/core/render-template.ts';
import { type DbtOptions, dbtActions, dbtConnector } from '../action/dbt/dbt-actions.ts';
import { emailActions, emailConnector } from '../action/email/email-actions.ts';
import { createHttpClient, DEFAULT_CONNECTIONS_PER_ORIGIN } from '../action/http/client.ts';
import { httpActions, httpConnector } from '../action/http/http-actions.ts';
import { lifecycleActions, lifecycleConnector } from '../action/lifecycle/lifecycle-actions.ts';
import type { TriggerLifecycle } from '../action/lifecycle/trigger.ts';
import { mondayActions, mondayConnector } from '../action/monday/monday-actions.ts';
import { createRegistry } from '../action/registry.ts';
import { slackActions, slackConnector } from '../action/slack/slack-actions.ts';
import { loadUserActions } from '../action/user/user-actions.ts';
import { type Config, cacheFolder, resolveConfig, searchPath } from '../config/config.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import { readOfficialTemplates } from '../store/migrate/official-templates.ts';
import type { Store } from '../store/port.ts';
import { DocumentTemplates } from '../template/document-templates.ts';
import type { Telemetry } from './telemetry.ts';

const CONNECTORS = [
  ...[coreConnector, httpConnector, lifecycleConnector],
  ...[slackConnector, mondayConnector, confluenceConnector, emailConnector, dbtConnector],
];

/** The actions with their HTTP client, and the templates of documents and workflows. */
export async function openCatalog(
  own: readonly ActionDefinition[],
  config: Config,
  deps: {
    readonly store: Store;
    readonly telemetry: Telemetry;
    readonly closers: (() => Promise<unknown>)[];
    readonly trigger: TriggerLifecycle;
  },
) {
  const { store, telemetry, closers, trigger } = deps;
  const renderer = createRenderPool({ ...config.templates, rendered: telemetry.rendered });
  closers.push(() => renderer.close());
  const documents = new DocumentTemplates({ store, renderer });
  const userActions = config.action.folder === undefined ? [] : await loadUserActions(config.action.folder);
  const registry = createRegistry(
    [...builtInActions(config, { documents, trigger }), ...userActions, ...own],
    CONNECTORS,
  );
  if (config.catalog.autoRegisterActions) await store.catalogUpsert(registry.catalog());
  await store.workflowTemplateSeed({ templates: readOfficialTemplates() });
  const http = createHttpClient({
    ...config.http,
    // All attempts may call the same host. They must not queue in the client, because their timeouts would run meanwhile.
    maxConnectionsPerOrigin: Math.max(DEFAULT_CONNECTIONS_PER_ORIGIN, config.engine.maxParallelActions),
  });
  closers.push(() => http.close());
  return { registry, http, documents, renderer };
}

/** The schemas of the built-in actions by type, for checks without a database: schemas/action-schemas.json is made from this. */
export function builtInActionSchemas(): JsonObject {
  // Nothing is run here, so nobody needs to be able to.
  const nobody = { documents: {} as DocumentTemplates, trigger: () => Promise.reject(new Error('nothing runs here')) };
  const { actions } = createRegistry(builtInActions(resolveConfig({}, {}), nobody)).catalog();
  const schemas = actions.map(({ id, parameterSchema, outputSchema }): [string, JsonObject] => [
    id,
    { parameters: JSON.parse(parameterSchema) as Json, outputs: JSON.parse(outputSchema) as Json },
  ]);
  return Object.fromEntries(schemas.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Built-in actions that leave no timer or promise behind. A later error cannot be theirs. */
export const OVER_WHEN_THEY_ANSWER: ReadonlySet<string> = new Set(
  [...coreActions(), ...httpActions].map(({ type }) => type),
);

function builtInActions(
  { connectors, expression, dbt }: Config,
  { documents, trigger }: { documents: DocumentTemplates; trigger: TriggerLifecycle },
): ActionDefinition[] {
  return [
    ...coreActions(expression),
    ...documentActions(documents),
    ...httpActions,
    ...lifecycleActions(trigger),
    ...slackActions({ baseUrl: connectors.slackBaseUrl }),
    ...mondayActions({ baseUrl: connectors.mondayBaseUrl }),
    ...confluenceActions({ baseUrl: connectors.confluenceBaseUrl, edition: connectors.confluenceEdition }),
    ...dbtActions(dbtOptions(dbt)),
    ...emailActions({ smtpUrl: connectors.emailSmtpUrl, from: connectors.emailFrom }),
  ];
}

/** The dbt of `npm run servers`, if there is one. */
function dbtOptions({ command, folder }: Config['dbt']): DbtOptions {
  const own = join(cacheFolder(), 'dbt', 'bin', 'dbt');
  return {
    command: command ?? (existsSync(own) ? own : 'dbt'),
    folders: folder,
    env: { PATH: searchPath(), HOME: homedir() },
  };
}

// Everything that the graph examples talk to, for one test file: Pawl on a database of its own, and stand-ins for Slack, Monday
// and Confluence with the boards, channels and spaces that the examples name.

import { afterAll, vi } from 'vitest';
import { createPawl, type Pawl } from '../../src/main.ts';
import { type ConfluenceStandin, confluenceStandin } from '../standin/confluence-standin.ts';
import { type MondayStandin, mondayStandin } from '../standin/monday-standin.ts';
import { projectBoard } from '../standin/project-board.ts';
import { type SlackStandin, slackStandin } from '../standin/slack-standin.ts';
import { testDatabase } from '../support/database.ts';

export interface Services {
  readonly pawl: Pawl;
  readonly slack: SlackStandin;
  readonly monday: MondayStandin;
  readonly confluence: ConfluenceStandin;
}

/** The test searches for these values in everything that the executions leave behind (S6). */
export const TOKENS = {
  CONNECTOR_SLACK_TOKEN: 'xoxb-canary-slack',
  CONNECTOR_MONDAY_TOKEN: 'canary-monday',
  CONNECTOR_CONFLUENCE_TOKEN: 'canary-confluence',
};

export async function openServices(): Promise<Services> {
  for (const [name, value] of Object.entries(TOKENS)) vi.stubEnv(name, value);
  const database = await testDatabase();
  const slack = await slackStandin({ token: TOKENS.CONNECTOR_SLACK_TOKEN, channels: ['C456'] });
  const monday = await mondayStandin({ token: TOKENS.CONNECTOR_MONDAY_TOKEN, boards: [projectBoard()] });
  const confluence = await confluenceStandin({ token: TOKENS.CONNECTOR_CONFLUENCE_TOKEN, spaces: ['PROJECTS'] });
  const pawl = await createPawl({
    database: { url: database.connectionString },
    serve: true,
    server: { port: 0 },
    auth: { allowLooseAuth: true },
    http: { allowLoopback: true },
    connectors: {
      slackBaseUrl: `${slack.url}/api/`,
      mondayBaseUrl: `${monday.url}/v2`,
      confluenceBaseUrl: confluence.url,
    },
  });
  afterAll(async () => {
    await pawl.close();
    await Promise.all([slack, monday, confluence].map((service) => service.close()));
    await database.drop();
    vi.unstubAllEnvs();
  });
  return { pawl, slack, monday, confluence };
}

// The official workflow templates: shipped once, and each one instantiated, published and run against stand-ins for the systems
// that it uses.

import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl, type ExecutionResult, type Pawl } from '../../src/main.ts';
import { readOfficialTemplates } from '../../src/store/migrate/official-templates.ts';
import { confluenceStandin } from '../standin/confluence-standin.ts';
import { httpStandin } from '../standin/http-standin.ts';
import { mondayStandin } from '../standin/monday-standin.ts';
import { projectBoard } from '../standin/project-board.ts';
import { slackStandin } from '../standin/slack-standin.ts';
import { smtpStandin } from '../standin/smtp-standin.ts';
import { testDatabase } from '../support/database.ts';

const TOKEN = 'token-of-the-standins';
const CHANNEL = 'C456';
for (const name of ['SLACK', 'MONDAY', 'CONFLUENCE']) vi.stubEnv(`CONNECTOR_${name}_TOKEN`, TOKEN);

const slack = await slackStandin({ token: TOKEN, channels: [CHANNEL] });
const monday = await mondayStandin({ token: TOKEN, boards: [projectBoard()] });
const confluence = await confluenceStandin({ token: TOKEN, spaces: ['PROJECTS'] });
const smtp = await smtpStandin();
let health = { status: 200, body: 'all is ok' };
const site = await httpStandin(() => health);

const database = await testDatabase();
const open = (): Promise<Pawl> =>
  createPawl({
    database: { url: database.connectionString },
    serve: true,
    server: { port: 0, checkAnswers: true },
    auth: { allowLooseAuth: true },
    http: { allowLoopback: true },
    connectors: {
      slackBaseUrl: `${slack.url}/api/`,
      mondayBaseUrl: `${monday.url}/v2`,
      confluenceBaseUrl: confluence.url,
      emailSmtpUrl: `smtp://${smtp.host}:${smtp.port}`,
      emailFrom: 'pawl@example.com',
    },
  });
const pawl = await open();

afterAll(async () => {
  await pawl.close();
  await Promise.all([slack, monday, confluence, smtp, site].map((service) => service.close()));
  await database.drop();
  vi.unstubAllEnvs();
});

beforeEach(() => {
  slack.messages.length = 0;
  confluence.pages.length = 0;
  smtp.mails.length = 0;
  health = { status: 200, body: 'all is ok' };
});

async function ask(method: string, path: string, body?: JsonObject): Promise<JsonObject> {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const payload = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${pawl.url}/api/v1${path}`, { method, headers, ...payload });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as JsonObject;
}

/** As a person would do: instantiate, publish, execute. */
async function run(templateId: string, config: JsonObject, trigger: JsonObject = {}): Promise<ExecutionResult> {
  const wanted = { displayName: `My ${templateId}`, config };
  const { workflowId } = await ask('POST', `/templates/workflows/${templateId}/instantiate`, wanted);
  await ask('POST', `/workflows/${workflowId}/publish`);
  const { executionId } = await ask('POST', `/workflows/${workflowId}/execute`, { trigger });
  return pawl.result(executionId as string);
}

const texts = (): string[] => slack.messages.map(({ text }) => text);

describe('Monday → Slack status report', () => {
  const config = { boardId: '100', channelId: CHANNEL };

  it('the status report lists the projects in progress', async () => {
    expect((await run('monday-slack-status-report', config)).status).toBe('Succeeded');
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toMatch(/^\*In Progress\*: 2\n• <https?:\S+\|Apollo>\n• <https?:\S+\|Cosmos>$/);
  });

  it('the status report says so when no project matches', async () => {
    expect((await run('monday-slack-status-report', { ...config, status: 'Done' })).status).toBe('Succeeded');
    expect(texts()).toEqual(['*Done*: nothing.']);
  });
});

describe('onboard new project', () => {
  const config = { space: 'PROJECTS', channelId: CHANNEL };

  it('onboarding creates a page for an approved project and sends a welcome', async () => {
    expect((await run('onboard-new-project', config, { itemId: '2' })).status).toBe('Succeeded');
    expect(confluence.pages).toMatchObject([{ space: 'PROJECTS', title: 'Borealis - Project Brief' }]);
    expect(confluence.pages[0]?.body).toContain('<p>Status: Approved</p>');
    expect(texts()).toEqual([expect.stringMatching(/^Welcome, Borealis! https?:\S+$/)]);
  });

  it('onboarding reports a project that is not approved or does not exist', async () => {
    expect((await run('onboard-new-project', config, { itemId: '1' })).status).toBe('Succeeded');
    expect((await run('onboard-new-project', config, { itemId: '404' })).status).toBe('Succeeded');
    expect(confluence.pages).toEqual([]);
    expect(texts()).toEqual([
      'Apollo is not approved yet.',
      expect.stringMatching(/^Onboarding of 404 failed: Monday has no item 404/),
    ]);
  });

  it('onboarding accepts any of the configured statuses', async () => {
    const given = { ...config, approvedStatuses: ['Approved', 'In Progress'], titleSuffix: 'Start' };
    expect((await run('onboard-new-project', given, { itemId: '1' })).status).toBe('Succeeded');
    expect(confluence.pages).toMatchObject([{ title: 'Apollo - Start' }]);
  });
});

describe('daily standup reminder', () => {
  it('the standup reminder asks, and sends a last call in the thread', async () => {
    const config = { channelId: CHANNEL, questions: ['What?', 'Who {{ trigger.x }}?'], lastCallMinutes: 0 };
    expect((await run('daily-standup-reminder', config)).status).toBe('Succeeded');
    expect(slack.messages).toMatchObject([
      { text: 'Good morning! Time for the standup.\n1. What?\n2. Who {{ trigger.x }}?' },
      { text: 'Last call: has everyone answered?', thread_ts: slack.messages[0]?.ts },
    ]);
  });
});

describe('HTTP health check', () => {
  const config = { url: `${site.url}/health`, channelId: CHANNEL, expectText: 'ok', tries: 1 };

  it('the health check sends nothing when all is well', async () => {
    const { status, outputs } = await run('http-health-check', config);
    expect({ status, outputs }).toEqual({ status: 'Succeeded', outputs: { healthy: true, status: 200 } });
    expect(texts()).toEqual([]);
  });

  it('the health check alerts when the answer is wrong or an error', async () => {
    health = { status: 200, body: 'maintenance' };
    expect((await run('http-health-check', config)).status).toBe('Succeeded');
    health = { status: 503, body: 'down' };
    expect((await run('http-health-check', config)).status).toBe('Succeeded');
    expect(texts()).toEqual([
      `:warning: ${config.url} answers, but without "ok".`,
      expect.stringMatching(/^:rotating_light: .* is not healthy: .*503/),
    ]);
  });
});

describe('approval by e-mail', () => {
  const config = { approver: 'lead@example.com', waitMinutes: 0 };
  const mails = () => smtp.mails.map(({ to, headers }) => `${to.join(', ')}: ${headers.get('subject')}`);

  it('the approval asks, waits, and tells the requester', async () => {
    const trigger = { itemId: '2', requester: 'ada@example.com' };
    expect((await run('approval-by-email', config, trigger)).status).toBe('Succeeded');
    expect(mails()).toEqual(['lead@example.com: Please approve: Borealis', 'ada@example.com: Approved: Borealis']);
    expect(smtp.mails[0]?.headers.get('reply-to')).toBe('ada@example.com');
  });

  it('the approval sends a reminder when there is no approval', async () => {
    const trigger = { itemId: '1', requester: 'ada@example.com' };
    expect((await run('approval-by-email', config, trigger)).status).toBe('Succeeded');
    expect(mails()).toEqual([
      'lead@example.com: Please approve: Apollo',
      'lead@example.com, ada@example.com: Still waiting for your approval: Apollo',
    ]);
  });
});

describe('the official templates', () => {
  it('each official template has an example, and a copy of the template can be saved', async () => {
    for (const template of readOfficialTemplates()) {
      const { templateId, thumbnailUrl: _none, ...content } = template;
      const body = {
        ...content,
        id: `copy-of-${templateId}`,
        definition: JSON.parse(template.definition),
        configSchema: JSON.parse(template.configSchema),
      };
      expect(body.configSchema.examples).toHaveLength(1);
      expect(await ask('POST', '/templates/workflows', body)).toMatchObject({ isOfficial: false });
    }
  });

  it('a second process does not write the official templates again', async () => {
    const seen = () => ask('GET', '/templates/workflows?isOfficial=true');
    const before = await seen();
    const others = await Promise.all([open(), open(), open()]);
    await Promise.all(others.map((other) => other.close()));
    expect(await seen()).toEqual(before);
    expect(before.data).toHaveLength(5);
  });
});

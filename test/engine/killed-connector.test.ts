// A runner is killed with -9 after the other system has acted and before its answer arrives. The next owner runs the same attempt
// again, and every connector must then find what already exists (I7).

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestServers, testServers } from '../../src/action/http/server.testing.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import { type ConfluenceStandin, confluenceStandin } from '../standin/confluence-standin.ts';
import { type MondayStandin, mondayStandin } from '../standin/monday-standin.ts';
import { projectBoard } from '../standin/project-board.ts';
import { type SlackStandin, slackStandin } from '../standin/slack-standin.ts';
import { type SmtpStandin, smtpStandin } from '../standin/smtp-standin.ts';
import { engineUnderTest, QUICK } from './engine-under-test.ts';
import { spawnRunner } from './spawned-runner.ts';
import { graph } from './workflow-definition.ts';

const TOKEN = 'canary-4f2a9c';
const engine = engineUnderTest({ runner: false });
const short = { leaseMs: 700, leaseMarginMs: 200 };

let slack: SlackStandin;
let monday: MondayStandin;
let wiki: ConfluenceStandin;
let mail: SmtpStandin;
const servers: TestServers = testServers();

beforeAll(async () => {
  slack = await slackStandin({ token: TOKEN, channels: ['C1'] });
  monday = await mondayStandin({ token: TOKEN, boards: [projectBoard()] });
  wiki = await confluenceStandin({ token: TOKEN, spaces: ['PROJECTS'] });
  mail = await smtpStandin();
});
afterAll(async () => {
  await Promise.all([slack.close(), monday.close(), wiki.close(), mail.close(), servers.close()]);
});

const runner = () =>
  spawnRunner({
    url: engine.url,
    engine: { ...QUICK, ...short },
    environment: {
      CONNECTOR_SLACK_TOKEN: TOKEN,
      CONNECTOR_MONDAY_TOKEN: TOKEN,
      CONNECTOR_CONFLUENCE_TOKEN: TOKEN,
      PAWL_CONNECTORS_SLACK_BASE_URL: `${slack.url}/api`,
      PAWL_CONNECTORS_MONDAY_BASE_URL: `${monday.url}/v2`,
      PAWL_CONNECTORS_CONFLUENCE_BASE_URL: wiki.url,
      PAWL_CONNECTORS_CONFLUENCE_EDITION: 'data-center',
      PAWL_CONNECTORS_EMAIL_SMTP_URL: `smtp://${mail.host}:${mail.port}`,
      PAWL_CONNECTORS_EMAIL_FROM: 'pawl@example.com',
      PAWL_HTTP_ALLOW_LOOPBACK: 'true',
    },
  });

/** Runs the action once and kills its runner when `acted` resolves, then runs the action a second time to its end. */
async function killedBetween(actionType: string, parameters: JsonObject, acted: Promise<void>) {
  const doomed = await runner();
  const executionId = await engine.start(
    graph(`killed-${actionType.replace('.', '-')}`, [{ id: 'act', actionType, parameters }]),
  );
  await acted;
  await doomed.kill();
  const heir = await runner();
  const result = await engine.pawl.result(executionId);
  const attempts = await engine.attempts(executionId);
  await heir.stop();
  return { result, attempts };
}

/** Resolves when the stand-in has done what it was asked and withholds the answer. */
function withheld(standin: SlackStandin | MondayStandin | ConfluenceStandin, matching: string): Promise<void> {
  return new Promise((done) => standin.inject({ kind: 'withhold', matching, done }));
}

describe('a runner killed between the effect and its answer', () => {
  it('a Slack message is posted once although the runner was killed before the answer', async () => {
    const acted = withheld(slack, 'chat.postMessage');
    const { result, attempts } = await killedBetween('slack.post-message', { channelId: 'C1', message: 'Hi' }, acted);
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { ts: slack.messages[0]!.ts } });
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1]);
    expect(slack.messages).toHaveLength(1);
  });

  it('a Monday item is created once although the runner was killed before the answer', async () => {
    const before = monday.boards[0]!.items.length;
    const acted = withheld(monday, 'create_item');
    const { result } = await killedBetween('monday.create-item', { boardId: '100', name: 'Dawn' }, acted);
    expect(result).toMatchObject({ status: 'Succeeded' });
    expect(monday.boards[0]!.items).toHaveLength(before + 1);
  });

  it('a Confluence page is created once, and the second attempt does not fail because the page exists', async () => {
    const acted = withheld(wiki, 'Apollo');
    const page = { space: 'PROJECTS', title: 'Apollo', body: '' };
    const { result } = await killedBetween('confluence.create-page', page, acted);
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { pageId: wiki.pages[0]!.id } });
    expect(wiki.pages).toHaveLength(1);
  });

  it('an e-mail is sent again under the same Message-ID, which mail systems recognise', async () => {
    const acted = mail.withholdNext();
    const message = { to: 'ada@example.com', subject: 'Hi', text: 'Hi' };
    const { result } = await killedBetween('email.send', message, acted);
    expect(result).toMatchObject({ status: 'Succeeded' });
    const ids = mail.mails.map(({ headers }) => headers.get('message-id'));
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
  });

  it('an HTTP request is sent again under the same idempotency key, which the service recognises', async () => {
    const { promise: acted, resolve: act } = Promise.withResolvers<void>();
    const { url, received } = await servers.recording((_, response) => {
      if (received.length > 1) return void response.end('{}');
      act();
    });
    const { result } = await killedBetween('http.request', { method: 'POST', url, body: { amount: 7 } }, acted);
    expect(result).toMatchObject({ status: 'Succeeded' });
    const keys = received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/:act$/);
    expect(keys[0]).toBe(keys[1]);
  });
});

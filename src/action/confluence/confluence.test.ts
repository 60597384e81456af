import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Attempts, attemptsOf } from '../../../test/standin/attempts.ts';
import {
  CONFLUENCE_USER,
  type ConfluenceStandin,
  confluenceStandin,
} from '../../../test/standin/confluence-standin.ts';
import type { Json } from '../../core/json/json.ts';
import { expectFailure, expectSuccess } from '../attempt.testing.ts';
import { confluenceActions } from './confluence-actions.ts';

const TOKEN = 'confluence-canary-4f2a9c';
const brief = { space: 'PROJECTS', title: 'Apollo - Project Brief', body: '<h1>Apollo</h1>' };

describe.each([
  ['data-center', TOKEN, 'https://wiki.example.com/display/PROJECTS/Apollo%20-%20Project%20Brief'],
  ['cloud', `pawl@example.com:${TOKEN}`, 'https://wiki.example.com/spaces/PROJECTS/pages/123456'],
] as const)('Confluence %s', (edition, token, url) => {
  let wiki: ConfluenceStandin;
  let attempts: Attempts;

  beforeEach(async () => {
    wiki = await confluenceStandin({ token, spaces: ['OTHER', 'PROJECTS'] });
    // A trailing slash is how people copy it.
    attempts = attemptsOf(confluenceActions({ baseUrl: `${wiki.url}/`, edition }), { confluence: token });
  });
  afterEach(async () => {
    await attempts.close();
    await wiki.close();
  });

  const create = (context = {}, parameters: Json = brief) =>
    attempts.run('confluence.create-page', parameters, context);
  const update = (parameters: Json, context = {}) => attempts.run('confluence.update-page', parameters, context);
  const get = (parameters: Json) => attempts.run('confluence.get-page', parameters);

  describe('confluence.create-page', () => {
    it('confluence.create-page creates the page and links it', async () => {
      const { outputs, resourceLinks } = expectSuccess(await create());
      expect(outputs).toEqual({ pageId: '123456', url });
      expect(resourceLinks).toEqual([{ system: 'confluence', resourceType: 'page', resourceId: '123456', url }]);
      expect(wiki.pages).toMatchObject([{ ...brief, parentId: null }]);
    });

    it('confluence.create-page works below another page and without a body', async () => {
      expectSuccess(await create());
      expectSuccess(await create({}, { space: 'PROJECTS', title: 'Child', parentId: 123456 }));
      expect(wiki.pages[1]).toMatchObject({ title: 'Child', body: '', parentId: '123456' });
    });

    it('a title that is taken is a conflict, and nothing is overwritten', async () => {
      expectSuccess(await create());
      const failed = expectFailure(await create({}, { ...brief, body: 'other' }));
      expect(failed).toMatchObject({ retryable: false, error: { code: 'RESOURCE_CONFLICT' } });
      expect(failed.error.message).toContain('A page already exists with the title Apollo');
      expect(wiki.pages).toHaveLength(1);
    });

    it('a retry after a lost response finds the created page', async () => {
      wiki.inject({ kind: 'loseAnswer', matching: brief.title });
      expect(expectFailure(await create())).toMatchObject({ retryable: true, error: { code: 'NETWORK_ERROR' } });
      expect(expectSuccess(await create({ attempt: 2 })).outputs).toEqual({ pageId: '123456', url });
      expect(wiki.pages).toHaveLength(1);
    });

    it('a retry after a failure that created nothing creates the page', async () => {
      wiki.inject({ kind: 'answer', answer: { status: 503, body: 'down' } });
      expectFailure(await create());
      expectSuccess(await create({ attempt: 2 }));
      expect(wiki.pages).toHaveLength(1);
    });

    it.each([
      ['of another execution', {}, { executionId: 'other', nodeId: 'node-1' }],
      ['of somebody else', { createdBy: 'user-ada' }, null],
      ['of last week', { createdAt: new Date(Date.now() - 7 * 86_400_000).toISOString() }, null],
    ])('a page %s is not mistaken for one of this node', async (_whose, changes, holder) => {
      expectSuccess(await create());
      Object.assign(wiki.pages[0]!, changes);
      const findResource = async () => (holder === null ? null : { ...holder, url: null });
      const failed = expectFailure(await create({ attempt: 2, findResource }));
      expect(failed.error.code).toBe('RESOURCE_CONFLICT');
    });

    it('an unknown space is a final error', async () => {
      const failed = expectFailure(await create({}, { ...brief, space: 'NONE' }));
      expect(failed).toMatchObject({ retryable: false, error: { code: 'RESOURCE_NOT_FOUND' } });
      expect(failed.error.message).toContain('NONE');
    });
  });

  describe('confluence.update-page', () => {
    it('confluence.update-page saves a new version, and keeps the fields that are not given', async () => {
      expectSuccess(await create());
      const { outputs } = expectSuccess(await update({ pageId: '123456', body: '<p>New</p>', message: 'Weekly' }));
      expect(outputs).toEqual({ pageId: '123456', url, version: 2 });
      expect(wiki.pages[0]).toMatchObject({ title: brief.title, body: '<p>New</p>', version: 2 });
      expect(wiki.pages[0]?.versionMessage).toMatch(/^Weekly \[[0-9a-f]{16}\]$/);
    });

    it('a retry after a lost response does not save twice', async () => {
      expectSuccess(await create());
      wiki.inject({ kind: 'loseAnswer', matching: 'New' });
      expectFailure(await update({ pageId: '123456', body: 'New' }));
      expect(expectSuccess(await update({ pageId: '123456', body: 'New' }, { attempt: 2 })).outputs).toMatchObject({
        version: 2,
      });
      expect(wiki.pages[0]?.version).toBe(2);
    });

    it('a version saved by another user in between is a reason to retry', async () => {
      expectSuccess(await create());
      wiki.inject({ kind: 'answer', matching: 'New', answer: { status: 409, body: { message: 'Version conflict' } } });
      expect(expectFailure(await update({ pageId: '123456', body: 'New' }))).toMatchObject({
        retryable: true,
        error: { code: 'RESOURCE_CONFLICT' },
      });
    });

    it('an update without a change is refused', async () => {
      expect(expectFailure(await update({ pageId: '123456' })).error).toMatchObject({ code: 'PARAMETERS_INVALID' });
    });
  });

  describe('confluence.get-page', () => {
    it('confluence.get-page finds a page by id, or by space and title', async () => {
      expectSuccess(await create());
      const page = { pageId: '123456', url, title: brief.title, version: 1, body: brief.body };
      expect(expectSuccess(await get({ pageId: '123456' })).outputs).toEqual(page);
      expect(expectSuccess(await get({ space: brief.space, title: brief.title })).outputs).toEqual(page);
    });

    it.each([{ pageId: '999' }, { space: 'PROJECTS', title: 'Nothing' }])(
      'a page that does not exist is a final error: %j',
      async (parameters) => {
        expect(expectFailure(await get(parameters))).toMatchObject({
          retryable: false,
          error: { code: 'RESOURCE_NOT_FOUND' },
        });
      },
    );

    it('an invalid page id never becomes part of a URL', async () => {
      expect(expectFailure(await get({ pageId: '1/../../admin' })).error.code).toBe('PARAMETERS_INVALID');
      expect(wiki.requests).toEqual([]);
    });
  });

  describe('errors of Confluence', () => {
    it.each([
      ['a 429', { status: 429, headers: { 'retry-after': '5' }, body: { message: 'Slow' } }, 'RATE_LIMITED', 5000],
      ['a 500', { status: 500, body: { message: 'Broken' } }, 'REMOTE_FAILED', undefined],
      ['a page instead of JSON', { status: 200, body: '<html>' }, 'RESPONSE_INVALID', undefined],
      ['something else', { status: 200, body: {} }, 'RESPONSE_INVALID', undefined],
    ])('%s is retried', async (_what, answer, code, retryAfterMs) => {
      wiki.inject({ kind: 'answer', answer });
      const failed = expectFailure(await get({ pageId: '123456' }));
      expect(failed).toMatchObject({ retryable: true, error: { code } });
      expect(failed.retryAfterMs).toBe(retryAfterMs);
    });

    it('a wrong token is final, and does not appear in the message (S6)', async () => {
      const body = { message: `Token ${token} is not known` };
      wiki.inject({ kind: 'answer', answer: { status: 401, body } });
      const failed = expectFailure(await get({ pageId: '123456' }));
      expect(failed).toMatchObject({ retryable: false, error: { code: 'CREDENTIAL_REFUSED' } });
      expect(JSON.stringify(failed)).not.toContain(TOKEN);
    });

    it('a missing token is reported with the variable to set', async () => {
      const { error } = expectFailure(await create({ credentials: { token: () => undefined } }));
      expect(error).toMatchObject({
        code: 'CREDENTIAL_MISSING',
        message: expect.stringContaining('CONNECTOR_CONFLUENCE_TOKEN'),
      });
    });

    it('requests to Confluence name the user they act for', async () => {
      expectSuccess(await create());
      expect(wiki.pages[0]?.createdBy).toBe(CONFLUENCE_USER);
      for (const { headers } of wiki.requests) {
        expect(headers).toMatchObject({
          'x-acting-user-id': 'U1',
          'x-acting-user-email': 'ada@example.com',
          'x-acting-user-name': 'Ada',
          'x-correlation-id': 'correlation-1',
        });
      }
    });
  });
});

describe('the URL of Confluence', () => {
  it('the URL of Confluence must be set', async () => {
    const attempts = attemptsOf(confluenceActions(), { confluence: TOKEN });
    const { error, retryable } = expectFailure(await attempts.run('confluence.create-page', brief));
    expect(retryable).toBe(false);
    expect(error).toMatchObject({
      code: 'CONNECTOR_NOT_CONFIGURED',
      message: expect.stringContaining('PAWL_CONNECTORS_CONFLUENCE_BASE_URL'),
    });
    await attempts.close();
  });

  it('the URL decides which API is used, unless the API is set', async () => {
    const paths: string[] = [];
    const http = {
      request: ({ url }: { url: string | URL }) => {
        paths.push(new URL(url).pathname);
        return Promise.reject(new Error('far away'));
      },
    };
    for (const baseUrl of [
      'https://acme.atlassian.net/wiki',
      'https://wiki.acme.com',
      'https://atlassian.net.acme.com',
    ]) {
      const attempts = attemptsOf(confluenceActions({ baseUrl }), { confluence: TOKEN });
      expectFailure(await attempts.run('confluence.get-page', { pageId: '1' }, { http }));
      await attempts.close();
    }
    expect(paths).toEqual(['/wiki/api/v2/pages/1', '/rest/api/content/1', '/rest/api/content/1']);
  });
});

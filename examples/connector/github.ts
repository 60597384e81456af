// A connector of your own: opens issues on GitHub, once, however often it is tried. docs/write-a-connector.md walks
// through it. Outside this repository import from 'pawl' instead of the relative path.

import { z } from 'zod';
import {
  type ActionContext,
  type ActionDefinition,
  defineAction,
  errorOfAnswer,
  passThroughHeaders,
  readAnswer,
  requireToken,
} from '../../src/main.ts';

const params = z.strictObject({
  repository: z.string().regex(/^[\w.-]+\/[\w.-]+$/, 'expected owner/name'),
  title: z.string().min(1).max(256),
  body: z.string().default(''),
});

const issue = z.object({ number: z.int(), html_url: z.string() });

export function githubActions({ baseUrl = 'https://api.github.com' } = {}): ActionDefinition[] {
  return [
    defineAction({
      type: 'github.create-issue',
      version: '1.0.0',
      connector: 'github',
      category: 'Development',
      displayName: 'Create an issue',
      description: 'Opens an issue in a repository.',
      params,
      outputs: z.object({ number: z.int(), url: z.string() }),
      async run({ repository, title, body }, context) {
        const github = connect(baseUrl, context);
        const path = `/repos/${repository}/issues`;
        const mark = `<!-- ${context.idempotencyKey} -->`;
        const earlier = context.mayHaveRun ? await findByMark(github, path, mark) : undefined;
        const made = earlier ?? (await github(issue, 'POST', path, { title, body: `${body}\n\n${mark}` }));
        const { number, html_url: url } = made;
        const link = { system: 'github', resourceType: 'issue', resourceId: `${repository}#${number}`, url };
        return { outputs: { number, url }, resourceLinks: [link] };
      },
    }),
  ];
}

/** What `--actions examples/connector` finds. */
export const [createIssue] = githubActions();

type AskGithub = <Answer extends z.ZodType>(
  answer: Answer,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
) => Promise<z.output<Answer>>;

function connect(baseUrl: string, context: ActionContext): AskGithub {
  const headers = {
    ...passThroughHeaders(context),
    authorization: `Bearer ${requireToken(context, 'github')}`,
    accept: 'application/vnd.github+json',
    'user-agent': 'pawl',
  };
  return async (answer, method, path, body) => {
    const response = await context.http.request({
      url: `${baseUrl}${path}`,
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { status, headers: answered } = response;
    const text = response.body.toString();
    if (status >= 200 && status < 300) return readAnswer('GitHub', answer, JSON.parse(text));
    const retryAfterMs = Number(answered['retry-after'] ?? 0) * 1000;
    throw errorOfAnswer({ system: 'GitHub', status, detail: text.slice(0, 200), retryAfterMs });
  };
}

const issues = z.array(issue.extend({ body: z.string().nullable() }));

async function findByMark(github: AskGithub, path: string, mark: string) {
  const latest = await github(issues, 'GET', `${path}?state=all&sort=created&per_page=50`);
  return latest.find(({ body }) => body?.endsWith(mark));
}

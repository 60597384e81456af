// A caller that may only read cannot complete an approval: callback tokens are hidden in every answer, event and log line.

import { expect, it } from 'vitest';
import { callbackToken } from '../../src/execution/callback-token.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { tokenFor, useServer } from '../server/api-server.ts';

const server = useServer();

it('a caller that may read but not signal sees no callback token anywhere', async () => {
  const created = await server.post('/api/v1/workflows', {
    name: 'approval',
    tasks: {
      note: { url: 'http://127.0.0.1:1/', method: 'POST', body: { link: '{{wait.answer.url}}' }, retries: 0 },
      answer: { needs: ['note'], wait_for_webhook: {} },
    },
  });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  const { body } = await server.post('/api/v1/workflows/approval/execute', {});
  const id = body.executionId as string;
  const seen = async (token?: string) => {
    const asked = token === undefined ? {} : { token };
    const answers = await Promise.all(
      ['?include=actions,events', '/events', '/journal', '/nodes/note', '/graph'].map((path) =>
        server.get(`/api/v1/executions/${id}${path}`, asked),
      ),
    );
    return JSON.stringify(answers.map((answer) => answer.body));
  };
  await expect.poll(() => seen()).toMatch(/\/wh\/[0-9a-f]{32}\.[\w-]+\.[\w-]{24}/);
  const reader = await tokenFor({ scope: ['workflows:read'] });
  const text = await seen(reader);
  expect(text).toContain('hidden-callback-token');
  expect(text).not.toMatch(/[0-9a-f]{32}\.[\w-]+\.[\w-]{24}/);
});

it('the log hides a callback token that an error repeats', () => {
  const lines: string[] = [];
  const token = callbackToken(new Uint8Array(32), { executionId: crypto.randomUUID(), nodeId: 'answer' });
  const log = createLog('info', { write: (line) => lines.push(line) });
  log.failed(new Error(`POST https://pawl.example/wh/${token} failed`), 'c');
  expect(lines.join('')).toContain('/wh/hidden-callback-token failed');
  expect(lines.join('')).not.toContain(token);
});

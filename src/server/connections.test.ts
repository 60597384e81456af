import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { createApp } from './app.ts';
import { createAuth } from './auth/authenticator.ts';
import { defineRoute } from './route.ts';

it('a stopping server does not wait for idle connections', async () => {
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  const slow = defineRoute({
    method: 'GET',
    path: '/slow',
    access: 'public',
    summary: 'Slow',
    tag: 'Test',
    responses: { 200: null },
    async handle() {
      asked();
      await mayAnswer;
      return { status: 200, body: { done: true } };
    },
  });
  const app = createApp({ routes: [slow], auth: createAuth('loose', []) });
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const arrived = once(app.server, 'connection');
  const silent = connect(Number(url.port), url.hostname);
  const ended = once(silent, 'close');
  await arrived;
  const inProgress = fetch(`${url}slow`);
  await isAsked;
  const closing = app.close();
  await ended;
  answer();
  expect(await (await inProgress).json()).toEqual({ done: true });
  await closing;
});

// A failing call to Monday says what failed. The test uses a plain Node process, as in production.

import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const PROGRAM = `
  const { ApiClient } = await import('@mondaydotcomorg/api');
  const { responseIn } = await import('./src/action/monday/client.ts');
  const { mondayError } = await import('./src/action/monday/error.ts');
  const client = new ApiClient({ token: 'x', endpoint: process.argv[1], requestConfig: { fetch } });
  await client.request('query { me { id } }').catch((thrown) => console.log(mondayError(responseIn(thrown), thrown).message));
`;

it('a refused call to Monday fails with the code and message of Monday', async () => {
  const monday = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ errors: [{ message: 'No such board', extensions: { code: 'ResourceNotFound' } }] }));
  });
  await new Promise<void>((resolve) => monday.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void monday.close());
  const { port } = monday.address() as { port: number };
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', PROGRAM, `http://127.0.0.1:${port}/v2`]);
  expect(stdout).toContain('No such board');
  expect(stdout).not.toContain('instanceof');
});

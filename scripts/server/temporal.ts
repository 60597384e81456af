// The Temporal development server: the real server with a database in memory, or in a file when it has a data folder.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SEARCH_ATTRIBUTES } from '../../src/driver/temporal/setup.ts';
import { cacheFolder, goInstall, inPath, runProgram, type Server, startListening } from './server.ts';

/** Later versions replace a module in their go.mod, which `go install` refuses. */
const VERSION = '1.5.1';
const FOLDER = cacheFolder(`temporal-${VERSION}`);
const BUILT = join(FOLDER, 'temporal');

/**
 * By default a task waits about 50 ms for its turn in the queues of the server, which are tuned for many clusters and not for
 * one laptop.
 */
const QUICK_QUEUES = ['history.transferProcessorMaxPollRPS=5000', 'history.timerProcessorMaxPollRPS=5000'];

export const temporal: Server = {
  name: 'temporal',
  use: 'the Temporal driver',
  port: 7233,
  find: () => (existsSync(BUILT) ? BUILT : inPath('temporal')),
  obtain: () => goInstall(`github.com/temporalio/cli/cmd/temporal@v${VERSION}`, FOLDER, 'temporal'),
  async start(program, { port, data }) {
    if (data !== undefined) mkdirSync(data, { recursive: true });
    const args = [
      ...['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'],
      ...(data === undefined ? [] : ['--db-filename', join(data, 'temporal.db')]),
      ...SEARCH_ATTRIBUTES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
      ...QUICK_QUEUES.flatMap((value) => ['--dynamic-config-value', value]),
    ];
    const health = ['operator', 'cluster', 'health', '--address', `127.0.0.1:${port}`];
    return startListening(program, args, port, async () => (await runProgram(program, health)) === null);
  },
};

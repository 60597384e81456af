// nats-server with JetStream, for the event bus.

import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder, goInstall, inPath, type Server, startListening } from './server.ts';

const VERSION = '2.15.2';
const FOLDER = cacheFolder(`nats-${VERSION}`);
const BUILT = join(FOLDER, 'nats-server');

export const nats: Server = {
  name: 'nats',
  use: 'the event bus',
  port: 4222,
  find: () => (existsSync(BUILT) ? BUILT : inPath('nats-server')),
  obtain: () => goInstall(`github.com/nats-io/nats-server/v2@v${VERSION}`, FOLDER, 'nats-server'),
  start: (program, { port, data = mkdtempSync(join(tmpdir(), 'pawl-nats-')) }) =>
    startListening(program, ['-js', '-sd', data, '-a', '127.0.0.1', '-p', String(port)], port),
};

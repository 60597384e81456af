// Programs that read our OpenAPI document as others do: one sends generated requests, and two generate clients.

import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pythonProgram } from './python.ts';
import { cacheFolder, inPath, runProgram, type Server } from './server.ts';

export const schemathesis = pythonProgram({
  name: 'schemathesis',
  use: 'generated requests to the API',
  packages: ['schemathesis~=4.32'],
  program: 'st',
});

export const pythonClient = pythonProgram({
  name: 'openapi-python-client',
  use: 'a generated Python client of the API',
  packages: ['openapi-python-client~=0.29'],
  program: 'openapi-python-client',
});

const FOLDER = cacheFolder('openapi-typescript-7');
const PROGRAM = join(FOLDER, 'node_modules', '.bin', 'openapi-typescript');

/** In a separate folder: it needs a TypeScript with a JavaScript API, which the compiler of this repository does not have. */
export const typescriptClient: Server = {
  name: 'openapi-typescript',
  use: 'a generated TypeScript client of the API',
  port: 0,
  find: () => (existsSync(PROGRAM) ? PROGRAM : null),
  async obtain() {
    const npm = inPath('npm');
    if (npm === null) return { missing: 'npm is not in the path' };
    mkdirSync(FOLDER, { recursive: true });
    const packages = ['openapi-typescript@^7.13.0', 'openapi-fetch@^0.17.0', 'typescript@~5.9.0'];
    const failure = await runProgram(npm, ['install', '--no-audit', '--no-fund', '--prefix', FOLDER, ...packages]);
    if (failure === null && existsSync(PROGRAM)) return { path: PROGRAM };
    rmSync(FOLDER, { recursive: true, force: true });
    return { missing: `npm install ${packages.join(' ')}: ${failure ?? 'no program'}` };
  },
};

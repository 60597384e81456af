// Python programs, each in a separate environment in the cache folder.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, inPath, runProgram, type Server } from './server.ts';

export interface PythonProgram {
  readonly name: string;
  readonly use: string;
  readonly packages: readonly string[];
  /** The name of the program in the bin folder of the environment. */
  readonly program: string;
}

export function pythonProgram({ name, use, packages, program }: PythonProgram): Server {
  const folder = cacheFolder(name);
  const path = join(folder, 'bin', program);
  return {
    name,
    use,
    port: 0,
    find: () => (existsSync(path) ? path : null),
    async obtain() {
      const python = inPath('python3');
      if (python === null) return { missing: `Python 3 is not installed; it runs ${name}` };
      const failure =
        (await runProgram(python, ['-m', 'venv', folder])) ??
        (await runProgram(join(folder, 'bin', 'pip'), ['install', '--quiet', ...packages]));
      if (failure === null && existsSync(path)) return { path };
      // Half an environment would be taken for a whole one next time.
      rmSync(folder, { recursive: true, force: true });
      return { missing: `pip install ${packages.join(' ')}: ${failure ?? 'no program'}` };
    },
  };
}

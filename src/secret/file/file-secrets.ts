// Secrets in files, as Kubernetes and Docker mount them: `<folder>/<tenant>/<key>`. A trailing line break belongs to the editor,
// not to the secret. A link may lead only to another place in the same folder.

import { open, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { SecretProvider } from '../secret.ts';

const MAX_BYTES = 64 * 1024;

export function fileSecrets(folder: string): SecretProvider {
  return {
    name: 'file',
    async get({ key, version }, { tenantId }) {
      if (version !== undefined) return undefined;
      const root = await realpath(folder);
      const path = await realpath(join(root, tenantId, key)).catch(onlyMissing);
      if (path === undefined || !path.startsWith(`${root}${sep}`)) return undefined;
      return readSecret(path);
    },
    async check() {
      if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is not a folder`);
    },
  };
}

async function readSecret(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const about = await file.stat();
    if (!about.isFile()) return undefined;
    if (about.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    return (await file.readFile('utf8')).replace(/\r?\n$/, '');
  } finally {
    await file.close();
  }
}

function onlyMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}

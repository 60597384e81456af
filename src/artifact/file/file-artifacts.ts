// Artifacts as files in one folder that every process of the installation must see. A file is written beside its place, synced
// and renamed, so a reader never sees half of one.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { ArtifactBytes, ArtifactKey } from '../artifact-bytes.ts';

export function fileArtifacts(folder: string): ArtifactBytes {
  // A tenant's name may contain characters that file systems refuse.
  const folderOf = ({ tenantId, artifactId }: ArtifactKey) =>
    join(folder, encodeURIComponent(tenantId), artifactId.slice(0, 8));
  const pathOf = (key: ArtifactKey) => join(folderOf(key), key.artifactId);
  return {
    async write(key, content) {
      const path = pathOf(key);
      await mkdir(folderOf(key), { recursive: true, mode: 0o700 });
      const partial = `${path}.partial`;
      const hash = createHash('sha256');
      let sizeBytes = 0;
      const file = await open(partial, 'w', 0o600);
      try {
        for await (const chunk of content) {
          hash.update(chunk);
          sizeBytes += chunk.length;
          await file.write(chunk);
        }
        await file.sync();
      } catch (error) {
        await file.close();
        await rm(partial, { force: true });
        throw error;
      }
      await file.close();
      await rename(partial, path);
      return { sizeBytes, sha256: hash.digest('hex') };
    },
    async open(key) {
      const path = pathOf(key);
      const found = await stat(path).catch(() => null);
      if (found === null)
        throw new PawlError('ARTIFACT_GONE', `the bytes of artifact ${key.artifactId} are not in the artifact store`);
      return Readable.from(contentOf(path), { objectMode: false });
    },
    async remove(key) {
      await rm(pathOf(key), { force: true });
      await rm(`${pathOf(key)}.partial`, { force: true });
    },
  };
}

/** Opens the file with the first read: a HEAD request, or a client that has left, holds no file open. */
async function* contentOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path);
}

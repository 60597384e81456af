// The storage of artifact bytes. An implementation stores a stream under a key and returns it; it decides nothing.

import type { Readable } from 'node:stream';

export interface ArtifactKey {
  readonly tenantId: string;
  readonly artifactId: string;
}

export interface WrittenBytes {
  readonly sizeBytes: number;
  /** Of the content, in hexadecimal digits. */
  readonly sha256: string;
}

export interface ArtifactBytes {
  /** Durable when it resolves. Writing the same key again replaces the bytes. */
  write(key: ArtifactKey, content: AsyncIterable<Uint8Array>): Promise<WrittenBytes>;
  /** Rejects with ARTIFACT_GONE when there are no such bytes. */
  open(key: ArtifactKey): Promise<Readable>;
  /** Removing missing bytes is not an error. */
  remove(key: ArtifactKey): Promise<void>;
}

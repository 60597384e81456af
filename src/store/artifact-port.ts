// The index of artifacts: origin, size and retention. The bytes are elsewhere (src/artifact). A row is written before the bytes
// and completed after them, so that no bytes exist without a row.

import type { Timestamp } from './port.ts';

export interface ArtifactStoreIndex {
  /** Announces bytes that are about to be written. Until it is completed it is not listed, and `sweepAt` removes it. */
  artifactBegin(params: NewArtifact & { sweepAfterMs: number }): Promise<void>;
  /** false: it was swept meanwhile. */
  artifactComplete(params: {
    artifactId: string;
    sizeBytes: number;
    sha256: string;
    /** null: kept as long as its execution. */
    keepMs: number | null;
  }): Promise<boolean>;
  artifactGet(params: { tenantId: string; artifactId: string }): Promise<ArtifactRow | null>;
  /** By id, those after `afterId`. */
  artifactList(params: {
    tenantId: string;
    executionId: string;
    afterId: string | null;
    limit: number;
  }): Promise<ArtifactRow[]>;
  /** Expired artifacts, and those without an execution. Each stays until it is forgotten. */
  artifactExpired(params: { limit: number }): Promise<{ artifactId: string; tenantId: string }[]>;
  artifactForget(params: { artifactIds: string[] }): Promise<void>;
}

export interface NewArtifact {
  artifactId: string;
  tenantId: string;
  executionId: string;
  nodeId: string;
  attempt: number;
  name: string;
  kind: string;
  contentType: string;
}

export interface ArtifactRow extends NewArtifact {
  sizeBytes: number;
  sha256: string;
  createdAt: Timestamp;
  expiresAt: Timestamp | null;
}

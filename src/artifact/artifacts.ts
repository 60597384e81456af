// Artifacts: results too large for outputs. An attempt writes them, state holds only pointers, and each kind has its own
// retention. The index row is written before the bytes and completed after them: if the process dies in between, the sweeper
// removes both (I24 protects only readable artifacts).

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Timers } from '../clock/timers.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { isUuid } from '../core/id/id.ts';
import type { ArtifactKind, ArtifactRef } from '../protocol/step-output.ts';
import type { ArtifactRow, ArtifactStoreIndex } from '../store/artifact-port.ts';
import type { ArtifactBytes, ArtifactKey } from './artifact-bytes.ts';

export type ArtifactContent = string | Uint8Array | AsyncIterable<Uint8Array>;

export interface NewArtifact {
  readonly kind: ArtifactKind;
  /** For people, e.g. `manifest.json`. */
  readonly name: string;
  readonly contentType?: string;
}

export interface ArtifactMaker {
  readonly tenantId: string;
  readonly executionId: string;
  readonly nodeId: string;
  readonly attempt: number;
}

/** Whether there is a store, and whether it takes bytes. */
export interface ArtifactHealth {
  readonly isThere: boolean;
  readonly writable: boolean;
  readonly latencyMs?: number;
  readonly detail: string;
}

export interface ArtifactsDeps {
  readonly index: ArtifactStoreIndex;
  /** null: this installation stores no artifacts. */
  readonly bytes: ArtifactBytes | null;
  readonly timers: Timers;
  readonly newId: () => string;
  /** How long each kind is kept; 0 = as long as its execution. */
  readonly keepDays: Readonly<Record<ArtifactKind, number>>;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}

const DAY_MS = 86_400_000;
/** An attempt that takes longer to write one artifact has died, or will find it swept. */
const UNFINISHED_MS = DAY_MS;
const SWEEP_EVERY_MS = 60_000;
const SWEEP_LIMIT = 500;
const HEALTH_KEPT_MS = 30_000;
const URI_PREFIX = 'pawl:artifacts/';

export class Artifacts {
  private readonly deps: ArtifactsDeps;
  private cancelTimer: () => void = () => {};
  private sweeping: Promise<void> = Promise.resolve();
  private asked: { readonly at: number; readonly answer: Promise<ArtifactHealth> } | null = null;

  /** One key for the life of the process, because each key leaves a folder. */
  private readonly healthKey: ArtifactKey;

  constructor(deps: ArtifactsDeps) {
    this.deps = deps;
    this.healthKey = { tenantId: 'health', artifactId: deps.newId() };
  }

  /** false: this installation stores no artifacts. */
  get isThere(): boolean {
    return this.deps.bytes !== null;
  }

  async put(maker: ArtifactMaker, artifact: NewArtifact, content: ArtifactContent): Promise<ArtifactRef> {
    const { index, newId, keepDays } = this.deps;
    const bytes = this.bytesOrRefuse();
    const artifactId = newId();
    const { kind, name, contentType = 'application/octet-stream' } = artifact;
    await index.artifactBegin({ artifactId, ...maker, name, kind, contentType, sweepAfterMs: UNFINISHED_MS });
    const written = await bytes.write({ tenantId: maker.tenantId, artifactId }, chunksOf(content));
    const days = keepDays[kind];
    const isKept = await index.artifactComplete({ artifactId, ...written, keepMs: days === 0 ? null : days * DAY_MS });
    if (!isKept) throw new PawlError('ARTIFACT_GONE', `artifact ${name} took too long to write and was removed`);
    return { uri: `${URI_PREFIX}${artifactId}`, kind, contentType, ...written };
  }

  list(tenantId: string, executionId: string, page: { afterId: string | null; limit: number }): Promise<ArtifactRow[]> {
    return this.deps.index.artifactList({ tenantId, executionId, ...page });
  }

  /** By id, or by the `uri` of a reference. */
  async open(tenantId: string, idOrUri: string): Promise<{ row: ArtifactRow; content: Readable }> {
    const artifactId = idOrUri.startsWith(URI_PREFIX) ? idOrUri.slice(URI_PREFIX.length) : idOrUri;
    const row = isUuid(artifactId) ? await this.deps.index.artifactGet({ tenantId, artifactId }) : null;
    if (row === null)
      throw new PawlError('ARTIFACT_NOT_FOUND', `there is no artifact ${artifactId}, or it has expired`);
    const content = await this.bytesOrRefuse().open({ tenantId, artifactId });
    return { row, content: Readable.from(unchanged(content, row), { objectMode: false }) };
  }

  /** Writes a few bytes and removes them, at most every half minute. */
  async health(): Promise<ArtifactHealth> {
    const { bytes, timers } = this.deps;
    if (bytes === null)
      return { isThere: false, writable: false, detail: 'there is none: set artifact.folder or artifact.s3Bucket' };
    const now = timers.monotonicMs();
    if (this.asked === null || now - this.asked.at > HEALTH_KEPT_MS)
      this.asked = { at: now, answer: this.tryBytes(bytes) };
    return this.asked.answer;
  }

  private async tryBytes(bytes: ArtifactBytes): Promise<ArtifactHealth> {
    const key = this.healthKey;
    const startedAt = this.deps.timers.monotonicMs();
    try {
      await bytes.write(key, chunksOf('health'));
      await bytes.remove(key);
      return {
        isThere: true,
        writable: true,
        latencyMs: Math.round(this.deps.timers.monotonicMs() - startedAt),
        detail: 'takes bytes',
      };
    } catch (error) {
      return { isThere: true, writable: false, detail: (error as Error).message };
    }
  }

  start(): void {
    this.cancelTimer = this.deps.timers.after(SWEEP_EVERY_MS, () => {
      this.sweeping = this.runOnce()
        .then(() => undefined)
        .catch((error: unknown) => this.deps.warn('artifacts could not be swept', { error: String(error) }))
        .finally(() => this.start());
    });
  }

  async stop(): Promise<void> {
    await this.sweeping;
    this.cancelTimer();
  }

  /** Removes the bytes first: a row without bytes is removed in the next round, but bytes without a row would stay for ever. */
  async runOnce(): Promise<number> {
    const { index, bytes } = this.deps;
    if (bytes === null) return 0;
    const expired = await index.artifactExpired({ limit: SWEEP_LIMIT });
    for (const key of expired) await bytes.remove(key);
    if (expired.length > 0) await index.artifactForget({ artifactIds: expired.map(({ artifactId }) => artifactId) });
    return expired.length;
  }

  private bytesOrRefuse(): ArtifactBytes {
    const { bytes } = this.deps;
    if (bytes !== null) return bytes;
    throw new PawlError('ARTIFACT_STORE_MISSING', 'no artifact store is configured: set artifact.folder');
  }
}

/** The bytes as they come. Other bytes than those that were written end with an error instead of an end. */
async function* unchanged(content: AsyncIterable<Uint8Array>, { artifactId, sha256 }: ArtifactRow) {
  const hash = createHash('sha256');
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
  const digest = hash.digest('hex');
  if (digest === sha256) return;
  const message = `the bytes of artifact ${artifactId} were changed: their sha256 is ${digest}, and ${sha256} was written`;
  throw new PawlError('ARTIFACT_DIGEST_MISMATCH', message);
}

function chunksOf(content: ArtifactContent): AsyncIterable<Uint8Array> {
  if (typeof content === 'string') return Readable.from([Buffer.from(content)]);
  return content instanceof Uint8Array ? Readable.from([content]) : content;
}

export function artifactUri(artifactId: string): string {
  return `${URI_PREFIX}${artifactId}`;
}

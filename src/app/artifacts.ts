// The artifacts of an installation: in its bucket or folder, or beside its embedded database.

import { join } from 'node:path';
import type { ArtifactBytes } from '../artifact/artifact-bytes.ts';
import { Artifacts } from '../artifact/artifacts.ts';
import { fileArtifacts } from '../artifact/file/file-artifacts.ts';
import { type S3Options, s3Artifacts } from '../artifact/s3/s3-artifacts.ts';
import { systemTimers } from '../clock/system-timers.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { signAws } from '../connection/sigv4.ts';
import type { Store } from '../store/port.ts';
import type { Telemetry } from './telemetry.ts';

export function openArtifacts(
  { artifact, database }: Config,
  { store, telemetry, newId }: { store: Store; telemetry: Pick<Telemetry, 'warn'>; newId: () => string },
): Artifacts {
  const beside = database.url === undefined ? join(database.dataDir, 'artifacts') : undefined;
  const folder = artifact.folder ?? beside;
  return new Artifacts({
    index: store,
    bytes: bytesOf(artifact, folder),
    timers: systemTimers,
    newId,
    keepDays: {
      'log-bundle': artifact.logDays,
      'dataset-sample': artifact.sampleDays,
      'dbt-manifest': artifact.resultDays,
      'dbt-run-results': artifact.resultDays,
      custom: artifact.resultDays,
    },
    warn: telemetry.warn,
  });
}

function bytesOf(artifact: Config['artifact'], folder: string | undefined): ArtifactBytes | null {
  const { s3Bucket: bucket, s3Prefix: prefix } = artifact;
  if (bucket !== undefined) return s3Artifacts({ ...s3Access(artifact, bucket), prefix });
  return folder === undefined ? null : fileArtifacts(folder);
}

/** Access to a bucket, for artifacts and for plans. */
export function s3Access(artifact: Config['artifact'], bucket: string): S3Options {
  const { s3Region: region, s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = artifact;
  const { s3Endpoint: endpoint = `https://s3.${region}.amazonaws.com` } = artifact;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    const message = 'artifact.s3AccessKeyId and artifact.s3SecretAccessKey are needed for S3';
    throw new ConfigError(`The configuration is not valid:\n- ${message}`);
  }
  const key = { accessKeyId, secretAccessKey, region, service: 's3' };
  return { endpoint, bucket, prefix: '', sign: (request) => signAws(request, key, new Date()) };
}

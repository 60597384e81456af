// The artifacts of an installation: in the folder that it names, or beside its embedded database.

import { join } from 'node:path';
import { Artifacts } from '../artifact/artifacts.ts';
import { fileArtifacts } from '../artifact/file/file-artifacts.ts';
import { systemTimers } from '../clock/system-timers.ts';
import type { Config } from '../config/config.ts';
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
    bytes: folder === undefined ? null : fileArtifacts(folder),
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

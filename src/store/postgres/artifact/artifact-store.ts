// The index of artifacts on PostgreSQL.

import type { ArtifactRow, ArtifactStoreIndex } from '../../artifact-port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const BEGIN = statement('artifact_begin');
const COMPLETE = statement('artifact_complete');
const GET = statement('artifact_get');
const LIST = statement('artifact_list');
const EXPIRED = statement('artifact_expired');
const FORGET = statement('artifact_forget');

export function artifactStore(database: Database): ArtifactStoreIndex {
  return {
    async artifactBegin({ artifactId, tenantId, executionId, nodeId, attempt, name, kind, contentType, sweepAfterMs }) {
      const row = [artifactId, tenantId, executionId, nodeId, attempt, name, kind, contentType, sweepAfterMs];
      await database.run(BEGIN, row);
    },
    artifactComplete: async ({ artifactId, sizeBytes, sha256, keepMs }) =>
      (await database.run(COMPLETE, [artifactId, sizeBytes, sha256, keepMs])).length > 0,
    async artifactGet({ tenantId, artifactId }) {
      const [row] = await database.run<Row>(GET, [tenantId, artifactId]);
      return row === undefined ? null : artifactRow(row);
    },
    artifactList: async ({ tenantId, executionId, afterId, limit }) =>
      (await database.run<Row>(LIST, [tenantId, executionId, afterId, limit])).map(artifactRow),
    artifactExpired: ({ limit }) => database.run(EXPIRED, [limit]),
    async artifactForget({ artifactIds }) {
      await database.run(FORGET, [artifactIds]);
    },
  };
}

/** A bigint comes as text. */
type Row = Omit<ArtifactRow, 'sizeBytes'> & { sizeBytes: string };

const artifactRow = (row: Row): ArtifactRow => ({ ...row, sizeBytes: Number(row.sizeBytes) });

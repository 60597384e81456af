// Log lines of attempts that still run, on PostgreSQL.

import type { LiveLine, LiveLineStore } from '../../live-line-port.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const PUT = statement('live_line_put');
const DROP = statement('live_line_drop');
const LIST = statement('live_line_list');

export function liveLineStore(reader: Database): LiveLineStore {
  return {
    liveLinePut: ({ lines }) =>
      reader.run<{ executionId: string; id: number }>(PUT, [
        ...attemptColumns(lines),
        lines.map(({ line }) => line),
        lines.map(({ at }) => new Date(at)),
        lines.map(({ level }) => level),
        lines.map(({ message }) => message),
        lines.map(({ data }) => data),
      ]),
    async liveLineDrop({ attempts }) {
      await reader.run(DROP, attemptColumns(attempts));
    },
    liveLineList: ({ executionId, nodeId }) => reader.run<LiveLine>(LIST, [executionId, nodeId]),
  };
}

const attemptColumns = (of: readonly Pick<LiveLine, 'executionId' | 'nodeId' | 'attempt'>[]) => [
  of.map(({ executionId }) => executionId),
  of.map(({ nodeId }) => nodeId),
  of.map(({ attempt }) => attempt),
];

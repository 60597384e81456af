// Log lines of running attempts: written now and then, and dropped once the result contains them.

import type { ActionLogRow } from './port.ts';

export interface LiveLine extends ActionLogRow {
  /** Its place in the log of the attempt. */
  line: number;
}

export interface LiveLineStore {
  /** The newest id for each execution: ids grow with every line. */
  liveLinePut(params: { lines: readonly LiveLine[] }): Promise<{ executionId: string; id: number }[]>;
  liveLineDrop(params: { attempts: readonly Pick<LiveLine, 'executionId' | 'nodeId' | 'attempt'>[] }): Promise<void>;
  /** In the order in which they were written; of one node, or of all (null). */
  liveLineList(params: { executionId: string; nodeId: string | null }): Promise<LiveLine[]>;
}

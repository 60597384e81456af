// The acknowledgements, on disk before anybody counts on them: one JSON line each, fsynced. At the end they are read back from
// the file, so that the check knows no more than a client that kept a diary would know (I1).

import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { Json } from '../../src/core/json/json.ts';

export type Ack =
  | { readonly type: 'started'; readonly workId: string; readonly executionId: string }
  | { readonly type: 'signalled'; readonly executionId: string; readonly signalId: string }
  | { readonly type: 'calledBack'; readonly executionId: string; readonly nodeId: string; readonly payload: Json }
  | { readonly type: 'cancelled'; readonly executionId: string };

export class AckLedger {
  private readonly path: string;
  private readonly file: FileHandle;
  private waiting: { line: string; resolve: () => void; reject: (error: unknown) => void }[] = [];
  private writing = false;
  count = 0;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.file = file;
  }

  static async create(path: string): Promise<AckLedger> {
    return new AckLedger(path, await open(path, 'a'));
  }

  record(ack: Ack): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ line: `${JSON.stringify(ack)}\n`, resolve, reject });
      void this.flush();
    });
  }

  async readBack(): Promise<Ack[]> {
    const lines = (await readFile(this.path, 'utf8')).split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Ack);
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private async flush(): Promise<void> {
    if (this.writing) return;
    this.writing = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0);
      try {
        await this.file.appendFile(batch.map(({ line }) => line).join(''));
        await this.file.datasync();
        this.count += batch.length;
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.writing = false;
  }
}

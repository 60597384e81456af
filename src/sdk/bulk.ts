// Actions on many executions.

import type { Page } from '../protocol/answer.ts';
import type { BulkAnswerJson, BulkJson, BulkRequest } from '../protocol/bulk.ts';
import { part, type Transport } from './transport.ts';
import type { PageQuery } from './workflows.ts';

const BASE = '/api/v1/bulk';

export class BulkApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** The same requestId is the same bulk action; `dryRun` only counts. */
  order(request: BulkRequest): Promise<BulkAnswerJson> {
    return this.transport.ask('POST', BASE, { body: request, repeatable: true });
  }

  get(id: string): Promise<BulkJson> {
    return this.transport.get(`${BASE}/${part(id)}`);
  }

  list(query: PageQuery = {}): Promise<Page<BulkJson>> {
    return this.transport.get(BASE, { ...query });
  }

  /** Finished work is not undone. */
  stop(id: string): Promise<BulkJson> {
    return this.transport.ask('DELETE', `${BASE}/${part(id)}`);
  }
}

// Statistics over time, and failures by cause.

import type { Page } from '../protocol/answer.ts';
import type { QueryOf } from '../protocol/page.ts';
import type { FailureGroupJson, StatPointJson, statQuery } from '../protocol/statistics.ts';
import type { Transport } from './transport.ts';

export interface StatQuery extends QueryOf<typeof statQuery> {}

export class StatisticsApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  over(query: StatQuery = {}): Promise<Page<StatPointJson>> {
    return this.transport.get('/api/v1/stats', { ...query });
  }

  /** The most frequent first. */
  failures(query: { readonly since?: string; readonly workflowId?: string } = {}): Promise<Page<FailureGroupJson>> {
    return this.transport.get('/api/v1/failures', query);
  }
}

// Metrics, fed by the parts of this process; depths are read from the database at each scrape.

import { collectDefaultMetrics, Registry } from 'prom-client';
import type { EngineMetric } from '../engine/environment.ts';
import { type DepthStore, depthMetrics } from './metric/depth-metrics.ts';
import { type CostRates, type ExecutionMetrics, executionMetrics } from './metric/execution-metrics.ts';
import { type ProcessMetrics, processMetrics } from './metric/process-metrics.ts';

export interface Metrics extends ExecutionMetrics, ProcessMetrics {
  readonly contentType: string;
  text(): Promise<string>;
}

export function createMetrics(store: DepthStore, engine: ReadonlyMap<EngineMetric, number>, cost: CostRates): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const askAgain = depthMetrics(registry, store);
  return {
    contentType: registry.contentType,
    text() {
      askAgain();
      return registry.metrics();
    },
    ...executionMetrics(registry, cost),
    ...processMetrics(registry, engine),
  };
}

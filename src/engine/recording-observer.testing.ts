// An observer that keeps the engine's counts and warnings for a test to read.

import type { EngineMetric, EngineObserver } from './environment.ts';

export interface RecordingObserver extends EngineObserver {
  readonly counts: Map<EngineMetric, number>;
  readonly warnings: string[];
}

export function recordingObserver(): RecordingObserver {
  const counts = new Map<EngineMetric, number>();
  const warnings: string[] = [];
  return {
    counts,
    warnings,
    warn: (event) => void warnings.push(event),
    count: (metric, by = 1) => void counts.set(metric, (counts.get(metric) ?? 0) + by),
  };
}

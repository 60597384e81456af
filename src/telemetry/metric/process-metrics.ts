// Work of this process besides attempts: triggers, rendering, conditions, publishing, and the runner's own counters.

import { Counter, Histogram, type Registry } from 'prom-client';
import { ENGINE_METRICS, type EngineMetric } from '../../engine/environment.ts';
import type { TriggerRecord } from '../../store/trigger-port.ts';
import type { Fired } from '../../trigger/firing.ts';

export interface ProcessMetrics {
  triggerFired(trigger: TriggerRecord, fired: Fired): void;
  /** A document, or the parameters of a node. */
  templateRendered(durationMs: number): void;
  /** For an edge, a node or a trigger. */
  conditionEvaluated(durationMs: number): void;
  /** An event could not be handed to a bus; it is tried again. */
  publishFailed(bus: string): void;
  /** A message for a bus has become a dead letter. */
  buried(bus: string): void;
}

/** From microseconds, for parameters and conditions, to seconds, for documents. */
const EVALUATION_BUCKETS = [0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2];

export function processMetrics(registry: Registry, counts: ReadonlyMap<EngineMetric, number>): ProcessMetrics {
  const registers = [registry];
  const buckets = EVALUATION_BUCKETS;
  const firings = new Counter({
    name: 'trigger_firings_total',
    help: 'Firings of triggers by what became of them.',
    labelNames: ['triggerType', 'outcome'],
    registers,
  });
  const rendered = new Histogram({
    name: 'template_render_duration_seconds',
    help: 'Rendering a document, or the parameters of a node.',
    buckets,
    registers,
  });
  const evaluated = new Histogram({
    name: 'condition_eval_duration_seconds',
    help: 'Evaluating a condition of an edge, a node or a trigger.',
    buckets,
    registers,
  });
  const unpublished = new Counter({
    name: 'eventbus_publish_failures_total',
    help: 'Events that could not be handed to a bus, and are tried again.',
    labelNames: ['bus'],
    registers,
  });
  const buried = new Counter({
    name: 'eventbus_dead_letters_total',
    help: 'Messages that a bus did not take in any attempt, and that wait among the dead letters.',
    labelNames: ['bus'],
    registers,
  });
  engineCounters(registry, counts);
  return {
    triggerFired: ({ triggerType }, { outcome }) => firings.inc({ triggerType, outcome }),
    templateRendered: (durationMs) => rendered.observe(durationMs / 1000),
    conditionEvaluated: (durationMs) => evaluated.observe(durationMs / 1000),
    publishFailed: (bus) => unpublished.inc({ bus }),
    buried: (bus) => buried.inc({ bus }),
  };
}

/** The runner's own counters: claims, commits, takeovers … and executions without a wake-up (I12). */
function engineCounters(registry: Registry, counts: ReadonlyMap<EngineMetric, number>): void {
  const registers = [registry];
  new Counter({
    name: 'pawl_engine_total',
    help: 'What the runner of this process has done, by kind.',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset();
      for (const kind of ENGINE_METRICS) this.inc({ kind }, counts.get(kind) ?? 0);
    },
  });
  new Counter({
    name: 'engine_wakeup_violations_total',
    help: 'Live executions that the audit found without a wake-up. Must be 0: each one is a bug, and stuck.',
    registers,
    collect() {
      this.reset();
      this.inc(counts.get('auditViolations') ?? 0);
    },
  });
}

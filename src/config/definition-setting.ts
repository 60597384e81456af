// The installation's options for definitions, in the compiler's terms.

import type { z } from 'zod';
import type { CompileOptions } from '../core/definition/compile.ts';
import type { ReadOptions } from '../core/definition/draft.ts';
import type { RetryPolicy } from '../core/plan/plan.ts';
import type { Sections } from './option-section.ts';

interface DefinitionConfig {
  readonly definition: z.output<Sections['definition']>;
  readonly publish: z.output<Sections['publish']>;
}

export function definitionSettings({ definition }: DefinitionConfig): ReadOptions {
  const policies =
    Object.keys(definition.retryPolicies).length === 0 ? {} : { retryPolicies: namedPolicies(definition) };
  return {
    ...policies,
    defaults: {
      attemptTimeoutMs: definition.actionTimeoutMs,
      graphTimeoutMs: definition.workflowTimeoutMs,
      childTimeoutMs: definition.childTimeoutMs ?? null,
      retry: {
        maxAttempts: definition.retryMaxAttempts,
        baseDelayMs: definition.retryInitialDelayMs,
        backoffFactor: definition.retryBackoffFactor,
        maxDelayMs: null,
        jitter: definition.retryJitter,
      },
      snapshot: {
        mode: definition.snapshotMode,
        keysToInclude: definition.snapshotKeys,
        maxContextSizeBytes: definition.maxContextSizeBytes,
        overflowBehavior: definition.overflowBehavior,
      },
    },
  };
}

/** The limit of nodes applies to publishing only: older versions run on. */
export function publishOptions(
  config: DefinitionConfig,
): DefinitionConfig['publish'] & { readonly compile: CompileOptions } {
  return { ...config.publish, compile: { ...definitionSettings(config), maxNodes: config.definition.maxNodes } };
}

function namedPolicies({ retryPolicies }: DefinitionConfig['definition']): Record<string, Partial<RetryPolicy>> {
  const entries = Object.entries(retryPolicies).map(([name, policy]) => {
    const given = Object.entries(policy).filter(([, value]) => value !== undefined);
    return [name, Object.fromEntries(given)] as const;
  });
  return Object.fromEntries(entries);
}

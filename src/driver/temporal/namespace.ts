// The namespace of a run: a template filled in with tenant, environment and project.

import type { RunPlace } from '../driver.ts';
import type { TemporalOptions } from './temporal-options.ts';

const FIELDS = { environment: 'environmentId', tenant: 'tenantId', project: 'projectId' } as const;

/** Temporal accepts letters, digits, `-`, `_` and `.`, up to 255. */
export function namespaceOf(template: string, place: RunPlace): string {
  const filled = template.replace(
    /\{(environment|tenant|project)\}/g,
    (_, name: keyof typeof FIELDS) => place[FIELDS[name]],
  );
  return filled.replace(/[^\w.-]/g, '-').slice(0, 255);
}

export function retentionOf(
  { retentionDays, retentionDaysByEnvironment }: Pick<TemporalOptions, 'retentionDays' | 'retentionDaysByEnvironment'>,
  environmentId: string,
): number {
  return Object.hasOwn(retentionDaysByEnvironment, environmentId)
    ? retentionDaysByEnvironment[environmentId]!
    : retentionDays;
}

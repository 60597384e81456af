// Lifecycles as the API shows them: absent rather than null, times as ISO text, stored JSON as JSON.

import type { z } from 'zod';
import type { InstanceView } from '../../lifecycle/instance/lifecycles.ts';
import type { Machine } from '../../lifecycle/machine/machine.ts';
import type {
  instanceSchema,
  lifecycleDetailSchema,
  lifecycleSchema,
  timelineEntrySchema,
} from '../../protocol/lifecycle.ts';
import type { LifecycleVersion, TimelineEntry } from '../../store/lifecycle-port.ts';
import { isoTime, parsed, present } from './field.ts';

export function presentLifecycle(row: LifecycleVersion): z.input<typeof lifecycleSchema> {
  const { env, name, version, checksum, createdAt } = row;
  return { env, name, version, checksum, importedAt: isoTime(createdAt) };
}

export function presentLifecycleDetail(
  row: LifecycleVersion,
  { events }: Machine,
): z.input<typeof lifecycleDetailSchema> {
  return present<z.input<typeof lifecycleDetailSchema>>({
    ...presentLifecycle(row),
    newestVersion: row.newestVersion,
    events: [...events.values()].map(({ name, id, code }) => (code === null ? { name, id } : { name, id, code })),
    definition: parsed(row.definition) as Record<string, unknown>,
    policies: parsed(row.policies) as Record<string, unknown> | undefined,
  });
}

export function presentInstance({ stateSince, timeoutAt, ...view }: InstanceView): z.input<typeof instanceSchema> {
  const shown = { ...view, stateSince: isoTime(stateSince)! };
  return timeoutAt === undefined ? shown : { ...shown, timeoutAt: isoTime(timeoutAt)! };
}

export function presentTimelineEntry(entry: TimelineEntry): z.input<typeof timelineEntrySchema> {
  return present<z.input<typeof timelineEntrySchema>>({
    at: isoTime(entry.at)!,
    kind: entry.kind,
    event: entry.event ?? undefined,
    from: entry.fromState ?? undefined,
    to: entry.toState ?? undefined,
    activity: entry.activity ?? undefined,
    status: entry.status ?? undefined,
    actor: entry.actor ?? undefined,
    requestId: entry.requestId ?? undefined,
    payload: parsed(entry.payload),
    cause: parsed(entry.cause) as { type: string } | undefined,
    messages: entry.messages ?? undefined,
  });
}

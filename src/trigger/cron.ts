// Cron expressions: five fields, six with seconds, or @daily and the like. croner reads the fields; the meaning of a change of
// clocks is decided here (I9). With `*` for the hour, slots follow real time: 23 or 25 hours that day. With named hours, each
// slot of the wall clock comes exactly once: a skipped time fires when the clocks are set forward, a repeated time fires the
// first time.

import { Cron } from 'croner';
import { type Zone, zoneOf } from './zone-time.ts';

export interface Schedule {
  /** The first slot after this instant; null: none. */
  next(after: number): number | null;
}

export type ReadSchedule =
  | { readonly ok: true; readonly schedule: Schedule }
  | { readonly ok: false; readonly field: 'cron' | 'timezone'; readonly message: string };

const MAX_LENGTH = 200;
const SHAPE = /^(@[a-z]+|\S+(\s+\S+){4,5})$/i;
const EVERY_HOUR = /^(\*|\?|\*\/1|0-23)$/;
const ADVICE = 'write minute, hour, day, month and weekday (with seconds before them if you like), or @daily';

export function readSchedule(cron: string, timezone = 'UTC'): ReadSchedule {
  const zone = readZone(timezone);
  if (zone === null) return { ok: false, field: 'timezone', message: `"${timezone}" is not a time zone` };
  const pattern = cron.trim();
  if (pattern.length > MAX_LENGTH || !SHAPE.test(pattern)) {
    return { ok: false, field: 'cron', message: `"${pattern.slice(0, 60)}" is not a cron expression: ${ADVICE}` };
  }
  try {
    const schedule = followsRealTime(pattern) ? inRealTime(pattern, timezone) : byWallClock(pattern, zone);
    return { ok: true, schedule };
  } catch (error) {
    return { ok: false, field: 'cron', message: (error as Error).message.replace(/^CronPattern: /, '') };
  }
}

/** The next slots, for people to see. */
export function upcomingSlots(schedule: Schedule, after: number, count: number): number[] {
  const slots: number[] = [];
  for (let slot = schedule.next(after); slot !== null && slots.length < count; slot = schedule.next(slot)) {
    slots.push(slot);
  }
  return slots;
}

function readZone(name: string): Zone | null {
  try {
    return zoneOf(name);
  } catch {
    return null;
  }
}

function followsRealTime(pattern: string): boolean {
  if (pattern.startsWith('@')) return pattern.toLowerCase() === '@hourly';
  const fields = pattern.split(/\s+/);
  return EVERY_HOUR.test(fields[fields.length === 5 ? 1 : 2]!);
}

function inRealTime(pattern: string, timezone: string): Schedule {
  const cron = new Cron(pattern, { timezone, paused: true });
  return { next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null };
}

/** croner calculates with local times as if they were UTC. */
function byWallClock(pattern: string, zone: Zone): Schedule {
  const cron = new Cron(pattern, { timezone: 'UTC', paused: true });
  return {
    next(after) {
      let local: number | null = zone.localAt(after);
      for (;;) {
        local = cron.nextRun(new Date(local))?.getTime() ?? null;
        if (local === null) return null;
        const slot = zone.instantOf(local);
        // In the repeated hour the wall clock shows times whose slots are past; slots of a skipped hour coincide.
        if (slot > after) return slot;
      }
    },
  };
}

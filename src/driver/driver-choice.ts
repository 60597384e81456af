// Chooses the driver of an execution: the run's own wish, else the workflow's, else the environment's, else the installation's. A
// child always runs on its parent's driver.

import { PawlError } from '../core/error/pawl-error.ts';
import type { Driver } from '../protocol/driver.ts';

export interface DriverOptions {
  readonly default: Driver;
  readonly byEnvironment: Readonly<Record<string, Driver>>;
}

export interface DriverWish {
  readonly environmentId: string;
  /** `context.driver` of the run. */
  readonly wished?: Driver | undefined;
  /** The definition's top-level `driver`. */
  readonly ofWorkflow?: string | null | undefined;
}

export function chooseDriver(options: DriverOptions, { environmentId, wished, ofWorkflow }: DriverWish): Driver {
  const ofEnvironment = Object.hasOwn(options.byEnvironment, environmentId)
    ? options.byEnvironment[environmentId]
    : undefined;
  return wished ?? (ofWorkflow as Driver | null | undefined) ?? ofEnvironment ?? options.default;
}

/**
 * Refuses an unconfigured driver at the start, where the caller can still change it. Otherwise no process would ever hand the
 * execution over.
 */
export function requireConfigured(driver: Driver, configured: ReadonlySet<Driver>): Driver {
  if (configured.has(driver)) return driver;
  throw new PawlError(
    'DRIVER_NOT_CONFIGURED',
    `this installation has no ${driver} driver; it has ${[...configured].join(', ')}. Set ${ADDRESS_OPTION[driver] ?? 'driver.default'}, or name another driver`,
  );
}

const ADDRESS_OPTION: Partial<Record<Driver, string>> = {
  temporal: 'temporal.address (PAWL_TEMPORAL_ADDRESS)',
  conductor: 'conductor.url (PAWL_CONDUCTOR_URL)',
};

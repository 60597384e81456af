// Applies the faults of a case at their times, and ends them when it is time to heal.

import type { Case } from './case.ts';
import { type Fault, LEASE_MS } from './fault.ts';
import type { Machine } from './machine.ts';
import type { Fate, Network } from './network.ts';
import type { World } from './world.ts';

export interface WeatherDeps {
  readonly world: World;
  readonly network: Network;
  readonly machines: readonly Machine[];
  readonly given: Case;
}

export class Weather {
  /** How far the clock of the database has been set back. */
  clockOffset = 0;
  kills = 0;
  private readonly deps: WeatherDeps;
  /** How often each runner has sent each statement. */
  private readonly times = new Map<string, number>();

  constructor(deps: WeatherDeps) {
    this.deps = deps;
  }

  begin(): void {
    const { world, given } = this.deps;
    for (const fault of given.faults) {
      if (fault.kind !== 'trap') world.schedule(fault.atMs, null, () => this.strike(fault));
    }
    world.schedule(given.healAtMs, null, () => this.heal());
  }

  /**
   * A trap strikes as soon as the statement has left, before anything else happens. Returns the fate of the statement, if the
   * trap is one.
   */
  sent(runner: number, method: string): Fate | null {
    const { world, given } = this.deps;
    const key = `${runner} ${method}`;
    const nth = (this.times.get(key) ?? 0) + 1;
    this.times.set(key, nth);
    if (world.now >= given.healAtMs) return null;
    let fate: Fate | null = null;
    for (const fault of given.faults) {
      if (fault.kind !== 'trap' || fault.runner !== runner || fault.method !== method || fault.nth !== nth) continue;
      const { strike, forMs } = fault;
      if (strike !== 'crash' && strike !== 'pause' && strike !== 'partition') fate = strike;
      else world.schedule(0, null, () => this.strikeRunner(strike, runner, forMs));
    }
    return fate;
  }

  private strike(fault: Exclude<Fault, { kind: 'trap' }>): void {
    const { world, network, machines } = this.deps;
    switch (fault.kind) {
      case 'crash':
        return this.strikeRunner('crash', fault.runner, fault.downMs);
      case 'pause':
      case 'partition':
        return this.strikeRunner(fault.kind, fault.runner, fault.forMs);
      case 'stop':
        return machines[fault.runner]?.stop(fault.downMs);
      case 'outage':
        network.outageUntil = world.now + fault.forMs;
        return;
      case 'clock':
        this.clockOffset += fault.byMs;
        return;
    }
  }

  private strikeRunner(kind: 'crash' | 'pause' | 'partition', runner: number, forMs: number): void {
    // A shrunk case may have fewer runners than its faults name.
    const machine = this.deps.machines[runner];
    if (kind === 'crash') {
      this.kills++;
      machine?.crash(forMs);
    } else if (kind === 'pause') machine?.pause(forMs);
    else machine?.cutOff(forMs);
  }

  private heal(): void {
    const { world, network, machines } = this.deps;
    network.outageUntil = 0;
    for (const { process } of machines) {
      process.pausedUntil = Math.min(process.pausedUntil, world.now + LEASE_MS);
      process.cutOffUntil = Math.min(process.cutOffUntil, world.now + LEASE_MS);
    }
  }
}

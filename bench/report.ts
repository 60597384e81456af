// The measurements: rows (one number of one system in one scenario) and ratios (a number with a target). Printed on the terminal
// during the run, written to bench/results.json at the end.

import { writeFileSync } from 'node:fs';
import type { Machine } from './machine.ts';
import { median, round } from './measurement.ts';

export interface Row {
  readonly scenario: string;
  readonly system: string;
  readonly unit: string;
  readonly value: number;
  /** Over several rounds: the lowest and the highest. */
  readonly min?: number;
  readonly max?: number;
}

export interface Ratio {
  readonly measure: string;
  readonly value: number;
  readonly reach: number;
  readonly ok: boolean;
}

export type Reach = { readonly atLeast: number } | { readonly atMost: number };

const MOST_SPREAD = 5;
const RESULTS = new URL('./results.json', import.meta.url);

export class Report {
  readonly rows: Row[] = [];
  readonly ratios: Ratio[] = [];
  private readonly signs = new Map<string, string>();
  private readonly startedAt = performance.now();

  progress(text: string): void {
    const seconds = Math.round((performance.now() - this.startedAt) / 1000);
    console.log(`${String(seconds).padStart(5)} s  ${text}`);
  }

  /** Reports what could not be measured, and why. Nothing is skipped silently. */
  skipped(what: string, why: string): void {
    console.log(`\n!! SKIPPED ${what}: ${why}\n`);
  }

  row(scenario: string, system: string, unit: string, value: number): void {
    this.rows.push({ scenario, system, unit, value });
    this.progress(`${scenario}: ${system} ${round(value)} ${unit}`);
  }

  /**
   * The median of several rounds, with the lowest and the highest beside it. If rounds differ by more than five times,
   * something is wrong with the engine or with the measurement, and the run fails instead of hiding it behind the median.
   */
  rounds(scenario: string, system: string, unit: string, values: readonly number[]): void {
    const [min, max] = [Math.min(...values), Math.max(...values)];
    this.rows.push({ scenario, system, unit, value: median(values), min, max });
    this.progress(`${scenario}: ${system} ${round(median(values))} ${unit} (${round(min)} to ${round(max)})`);
    if (max / min <= MOST_SPREAD) return;
    process.exitCode = 1;
    this.ratio(`${scenario}/${system}/highest-to-lowest`, max / min, { atMost: MOST_SPREAD });
  }

  /** The same as a ratio, but the command fails when the target is not reached. */
  required(measure: string, value: number, reach: Reach): void {
    this.ratio(measure, value, reach);
    if (this.ratios.at(-1)?.ok === false) process.exitCode = 1;
  }

  ratio(measure: string, value: number, reach: Reach): void {
    const [sign, limit] = 'atLeast' in reach ? ['≥', reach.atLeast] : ['≤', reach.atMost];
    const ok = sign === '≥' ? value >= limit : value <= limit;
    this.ratios.push({ measure, value, reach: limit, ok });
    this.signs.set(measure, sign);
  }

  /** The number of one system, once it has been measured. */
  value(scenario: string, system: string): number | undefined {
    return this.rows.find((row) => row.scenario === scenario && row.system === system)?.value;
  }

  print(): void {
    if (this.rows.length > 0) {
      const rows = this.rows.map(({ scenario, system, unit, value, min = value, max = value }) => [
        scenario,
        system,
        `${round(value)} ${unit}`,
        min === max ? '' : `${round(min)} to ${round(max)}`,
      ]);
      printTable('Measured', ['scenario', 'system', 'value', 'rounds'], rows);
    }
    if (this.ratios.length > 0) {
      const ratios = this.ratios.map(({ measure, value, reach, ok }) => [
        measure,
        round(value),
        `${this.signs.get(measure)} ${reach}`,
        ok ? 'ok' : '✗',
      ]);
      printTable('Reach', ['measure', 'value', 'reach', ''], ratios);
    }
  }

  write(machine: Machine): void {
    const { rows, ratios } = this;
    const text = JSON.stringify({ at: new Date().toISOString(), machine, rows, ratios }, null, 2);
    writeFileSync(RESULTS, `${text}\n`);
  }
}

function printTable(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(widths[column]!)).join('  ');
  console.log(`\n${title}\n  ${line(head)}\n  ${widths.map((width) => '─'.repeat(width)).join('  ')}`);
  for (const row of rows) console.log(`  ${line(row)}`);
}

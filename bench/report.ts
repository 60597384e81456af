// What was measured: rows (one number of one system in one scenario) and ratios (a number that has something to reach).
// Told on the terminal while it goes, written to bench/results.json at the end.

import { writeFileSync } from 'node:fs';
import type { Machine } from './machine.ts';
import { round } from './measurement.ts';

export interface Row {
  readonly scenario: string;
  readonly system: string;
  readonly unit: string;
  readonly value: number;
}

export interface Ratio {
  readonly measure: string;
  readonly value: number;
  readonly reach: number;
  readonly ok: boolean;
}

export type Reach = { readonly atLeast: number } | { readonly atMost: number };

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

  /** What could not be measured, and why: never silently. */
  skipped(what: string, why: string): void {
    console.log(`\n!! SKIPPED ${what}: ${why}\n`);
  }

  row(scenario: string, system: string, unit: string, value: number): void {
    this.rows.push({ scenario, system, unit, value });
    this.progress(`${scenario}: ${system} ${round(value)} ${unit}`);
  }

  ratio(measure: string, value: number, reach: Reach): void {
    const [sign, limit] = 'atLeast' in reach ? ['≥', reach.atLeast] : ['≤', reach.atMost];
    const ok = sign === '≥' ? value >= limit : value <= limit;
    this.ratios.push({ measure, value, reach: limit, ok });
    this.signs.set(measure, sign);
  }

  /** The number of one system, once it is known. */
  value(scenario: string, system: string): number | undefined {
    return this.rows.find((row) => row.scenario === scenario && row.system === system)?.value;
  }

  print(): void {
    if (this.rows.length > 0) {
      const rows = this.rows.map(({ scenario, system, unit, value }) => [scenario, system, `${round(value)} ${unit}`]);
      printTable('Measured', ['scenario', 'system', 'value'], rows);
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

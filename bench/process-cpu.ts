// The CPU time of a program: of its process and its children, ended ones included. Read from /proc, so only on Linux and only for
// programs on this machine.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  readonly ownTicks: number;
  /** The ticks of children that ended and were waited for. */
  readonly childTicks: number;
}

export function canReadCpu(): boolean {
  return existsSync('/proc/self/stat');
}

/** Microseconds since the program started. */
export function processCpuUs(program: number): number {
  const processes = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readTimes(name) : []));
  const ticks = processes
    .filter(({ pid, parent }) => pid === program || parent === program)
    .reduce((sum, { pid, ownTicks, childTicks }) => sum + ownTicks + (pid === program ? childTicks : 0), 0);
  return (ticks / ticksPerSecond()) * 1_000_000;
}

/** Fields of proc_pid_stat(5) after the name, which is in parentheses and may hold any character. */
function readTimes(pid: string): ProcessTimes[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent, user, system, childUser, childSystem] = [1, 11, 12, 13, 14].map((place) => fields[place]!);
    return [{ pid: Number(pid), parent: parent!, ownTicks: user! + system!, childTicks: childUser! + childSystem! }];
  } catch {
    // The process ended while we looked.
    return [];
  }
}

let known: number | undefined;

function ticksPerSecond(): number {
  known ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return known;
}

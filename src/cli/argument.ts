// Parses options and arguments: JSON, whole numbers, one of several names. Mistakes are reported in the words of the command
// line, before any request to a server.

import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { isUuid } from '../core/id/id.ts';
import type { Json } from '../core/json/json.ts';
import { nearMiss } from '../core/problem/near-miss.ts';
import { DRIVERS } from '../protocol/driver.ts';
import { executionRef } from '../protocol/identifier.ts';
import { UsageError } from './exit.ts';
import { readStandardInput } from './file/standard-input.ts';
import { reasonUnread } from './file/unreadable.ts';

/** Ignores case, and suggests the nearest name. */
export function oneOf<Name extends string>(names: readonly Name[]): (text: string) => Name {
  return (text) => {
    const found = names.find((name) => name.toLowerCase() === text.toLowerCase());
    if (found !== undefined) return found;
    const near = nearMiss(
      text.toLowerCase(),
      names.map((name) => name.toLowerCase()),
    );
    const meant = names.find((name) => name.toLowerCase() === near);
    throw new InvalidArgumentError(
      meant === undefined
        ? `It is one of ${names.join(', ')}.`
        : `Did you mean ${meant}? It is one of ${names.join(', ')}.`,
    );
  };
}

export const driverOption = (): Option =>
  new Option('--driver <name>', `what runs executions that do not say: ${DRIVERS.join(', ')}`).argParser(
    oneOf(DRIVERS),
  );

/** Comma separated. */
export function someOf<Name extends string>(names: readonly Name[]): (text: string) => Name[] {
  const one = oneOf(names);
  return (text) => text.split(',').map((part) => one(part.trim()));
}

export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,15}$/.test(text) && number >= minimum && number <= maximum) return number;
    throw new InvalidArgumentError(`It is a whole number from ${minimum} to ${maximum}.`);
  };
}

/** The id of an execution, as commands print it or as the pipeline API shows it. */
export function executionId(text: string): string {
  const { success, data } = executionRef.safeParse(text);
  if (success) return data;
  throw new InvalidArgumentError(EXECUTION_ID);
}

export const EXECUTION_ID = 'The id of an execution is a uuid, or `run_` and its digits: `pawl list` shows them.';

export function signalId(text: string): string {
  if (isUuid(text)) return text;
  throw new InvalidArgumentError('The id of a signal is a uuid; without one it gets a new one.');
}

/** JSON itself, or `@file` with JSON in it, or `-` for standard input. */
export function jsonOption(name: string, text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  const source = text.startsWith('@') ? readText(name, text.slice(1)) : text === '-' ? readText(name, null) : text;
  try {
    return JSON.parse(source) as Json;
  } catch (error) {
    const advice = text.startsWith("'") || /^[{[]?\s*\w+\s*:/.test(text) ? QUOTES : '';
    throw new UsageError(`${name} is not JSON: ${(error as Error).message}${advice}`);
  }
}

const QUOTES = `\n  Names and texts need double quotes, and the shell needs single ones around it all: '{"id":7}'`;

function readText(name: string, file: string | null): string {
  try {
    return file === null ? readStandardInput().toString('utf8') : readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${name}: cannot read ${file ?? 'standard input'}: ${reasonUnread(error)}`);
  }
}

export const FAIL_ON_TASK_FAILURE =
  'exit with 1 when any node failed, even if the execution succeeded (a pipeline completes whatever its tasks do)';

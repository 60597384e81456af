// The places that may break a rule, each with its reason. An entry that is no longer needed fails the test, so the list
// only ever shows what is true; core, engine and store never get one.

import type { Finding } from './rule.ts';

export interface Exception {
  readonly rule: string;
  readonly file: string;
  readonly reason: string;
}

export const exceptions: readonly Exception[] = [
  {
    rule: 'layer',
    file: 'src/action/user/user-actions.ts',
    reason: 'loads the modules of a folder that the user names: the paths are only known at run time',
  },
  {
    rule: 'layer',
    file: 'src/action/plugin/plugin-program.ts',
    reason: 'loads the plugin that it was handed as text, in a process without rights: there is no path',
  },
  {
    rule: 'layer',
    file: 'src/config/config-file.ts',
    reason: 'loads the configuration that the user has written as a module: its path is only known at run time',
  },
];

const neverExcepted: readonly string[] = ['src/core/', 'src/engine/', 'src/store/'];

export function isExcepted(rule: string, finding: Finding, list: readonly Exception[]): boolean {
  return list.some((entry) => entry.rule === rule && entry.file === finding.file);
}

/** Entries that forgive nothing any more. */
export function staleExceptions(
  list: readonly Exception[],
  found: readonly { readonly rule: string; readonly finding: Finding }[],
): Exception[] {
  return list.filter((entry) => !found.some(({ rule, finding }) => isExcepted(rule, finding, [entry])));
}

/** Entries that may not exist: they lie in a folder without exceptions, or give no reason. */
export function forbiddenExceptions(list: readonly Exception[]): Exception[] {
  return list.filter(
    ({ file, reason }) => reason.trim() === '' || neverExcepted.some((folder) => file.startsWith(folder)),
  );
}

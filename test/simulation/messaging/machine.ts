// The state machine of the simulation: submitted, checked by a hook that all its consumers have to answer, then passed or
// refused; there the instance is reminded some times, until somebody closes it.

import { compileLifecycle } from '../../../src/lifecycle/machine/compile.ts';
import { MAX_REMINDERS } from './case.ts';

export const ENV = 'sim';
export const MACHINE = 'loan';
export const TIMEOUT_MS = 1_500;

const waiting = { timeout: { after: `${TIMEOUT_MS}ms`, event: 'remind', mode: 'repeat', max: MAX_REMINDERS } };

const definition = {
  env: ENV,
  name: MACHINE,
  initial: 'draft',
  states: { draft: {}, checking: {}, passed: waiting, refused: waiting, closed: { final: true } },
  events: { submit: { code: 1 }, pass: { code: 2 }, refuse: { code: 3 }, remind: { code: 4 }, close: { code: 5 } },
  transitions: [
    { from: 'draft', on: 'submit', to: 'checking' },
    { from: 'checking', on: 'pass', to: 'passed' },
    { from: 'checking', on: 'refuse', to: 'refused' },
    { from: 'passed', on: 'remind', to: 'passed' },
    { from: 'refused', on: 'remind', to: 'refused' },
    { from: 'passed', on: 'close', to: 'closed' },
    { from: 'refused', on: 'close', to: 'closed' },
  ],
};

export function compiledMachine(consumers: readonly string[]) {
  const onProcessed = { succeeded: 'pass', failed: 'refuse' };
  const policies = {
    env: ENV,
    definition: MACHINE,
    policies: [
      { name: 'check', on: { transition: { event: 'submit' } }, routes: [{ hook: 'verify', consumers, onProcessed }] },
    ],
  };
  const { rows, problems } = compileLifecycle(definition, policies);
  if (rows === null) throw new Error(JSON.stringify(problems));
  return rows;
}

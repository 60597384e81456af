// A loan machine for tests. Each test gets a fresh copy that it may change.

import type { Json, JsonObject } from '../../core/json/json.ts';
import { compileLifecycle } from './compile.ts';
import type { Instance, Trigger } from './decision.ts';
import type { Machine } from './machine.ts';

export function loan(): JsonObject {
  return {
    env: 'prod',
    name: 'loan',
    initial: 'draft',
    states: {
      draft: {},
      submitted: { timeout: { after: '48h', event: 'remind', mode: 'repeat', max: 3 } },
      approved: { final: true },
      rejected: { final: true },
    },
    events: { submit: { code: 1001 }, remind: { code: 1002 }, approve: { code: 1003 }, reject: { code: 1004 } },
    transitions: [
      { from: 'draft', on: 'submit', to: 'submitted' },
      { from: 'submitted', on: 'remind', to: 'submitted' },
      { from: 'submitted', on: 'approve', to: 'approved' },
      { from: 'submitted', on: 'reject', to: 'rejected' },
    ],
  };
}

export function loanPolicies(): JsonObject {
  return {
    env: 'prod',
    definition: 'loan',
    policies: [
      {
        name: 'check-identity',
        on: { transition: { event: 'submit' } },
        when: 'payload.amount > 1000',
        routes: [
          {
            hook: 'verify-identity',
            consumers: ['kyc'],
            onProcessed: { succeeded: 'approve', failed: 'reject' },
          },
          { workflow: 'notify-underwriter' },
        ],
      },
    ],
  };
}

/** Compiles a machine that must be valid. */
export function machineOf(definition: Json, policies: Json | null = null): Machine {
  const { machine, problems } = compileLifecycle(definition, policies);
  if (machine === null) throw new Error(JSON.stringify(problems));
  return machine;
}

export function instanceIn(state: string, given: Partial<Instance> = {}): Instance {
  return {
    instanceId: '00000000-0000-7000-8000-000000000001',
    externalRef: 'loan-1',
    state,
    revision: 1,
    stateSince: 1_000,
    timeoutsFired: 0,
    dueAt: null,
    ...given,
  };
}

export function triggerOf(event: string | number, given: Partial<Trigger> = {}): Trigger {
  return { event, requestId: 'r-1', cause: { type: 'trigger' }, ...given };
}

import { describe, expect, it } from 'vitest';
import type { Json } from '../../core/json/json.ts';
import type { Instance, Trigger } from './decision.ts';
import { instanceIn, loan, loanPolicies, machineOf, triggerOf } from './loan.testing.ts';
import { timeoutOf } from './timeout.ts';
import { transition } from './transition.ts';

const DAY = 86_400_000;
const machine = machineOf(loan(), loanPolicies());
const now = 5_000;

function decide(instance: Instance, trigger: Trigger) {
  const { facts, emissions, notices } = transition(machine, instance, trigger, { now });
  return { fact: facts[0], emissions, notice: notices[0], notices };
}

describe('a trigger', () => {
  it('a trigger moves a new instance from the initial state', () => {
    const { fact, emissions, notices } = decide(
      instanceIn('draft', { revision: 0 }),
      triggerOf('submit', { payload: {} }),
    );
    expect(fact).toEqual({
      type: 'Transitioned',
      event: 'submit',
      from: 'draft',
      to: 'submitted',
      revision: 1,
      stateSince: now,
      timeoutsFired: 0,
      dueAt: now + 2 * DAY,
    });
    expect(emissions).toEqual([{ kind: 'transition', event: 'submit', code: 1001 }]);
    expect(notices).toEqual([]);
  });

  it.each(['approve', 1003, '1003'])('a trigger finds its event by %s', (event) => {
    expect(decide(instanceIn('submitted'), triggerOf(event)).fact).toMatchObject({ to: 'approved', dueAt: null });
  });

  it('a trigger of an unknown event is rejected, with a suggestion if a name is close', () => {
    const { fact, notice } = decide(instanceIn('draft'), triggerOf('sumbit'));
    expect(fact).toBeUndefined();
    expect(notice).toMatchObject({ kind: 'TransitionRejected', details: { reason: 'UNKNOWN_EVENT', event: 'sumbit' } });
    expect(notice!.message).toBe('the lifecycle `loan` of `prod` has no event `sumbit`; did you mean `submit`?');
    expect(decide(instanceIn('draft'), triggerOf(7)).notice!.message).toBe(
      'the lifecycle `loan` of `prod` has no event `7`',
    );
  });

  it('a trigger that the state does not allow is rejected, with the events that are allowed', () => {
    const { fact, emissions, notice } = decide(instanceIn('draft'), triggerOf('approve'));
    expect([fact, emissions]).toEqual([undefined, []]);
    expect(notice).toEqual({
      kind: 'TransitionRejected',
      message: '`approve` is not possible in the state `draft`: it allows `submit`',
      details: {
        env: 'prod',
        definition: 'loan',
        externalRef: 'loan-1',
        instanceId: '00000000-0000-7000-8000-000000000001',
        state: 'draft',
        requestId: 'r-1',
        event: 'approve',
        reason: 'NO_TRANSITION',
        allowed: ['submit'],
      },
    });
    expect(decide(instanceIn('approved'), triggerOf('reject')).notice!.message).toBe(
      '`reject` is not possible in the state `approved`: nothing leads out of it',
    );
    expect(decide(instanceIn('gone'), triggerOf('reject')).notice!.kind).toBe('TransitionRejected');
  });

  it('a trigger into the current state changes nothing, and is rejected for a new instance', () => {
    expect(decide(instanceIn('approved'), triggerOf('approve')).notice).toMatchObject({
      kind: 'NoOpAlreadyInState',
      message: '`approve` changes nothing: `loan-1` is in the state `approved` already',
    });
    const back = machineOf({
      ...loan(),
      transitions: [...(loan().transitions as Json[]), { from: 'submitted', on: 'withdraw', to: 'draft' }],
      events: { ...(loan().events as object), withdraw: {} },
    });
    const never = instanceIn('draft', { revision: 0 });
    expect(transition(back, never, triggerOf('withdraw'), { now }).notices[0]!.kind).toBe('TransitionRejected');
    expect(transition(back, instanceIn('draft'), triggerOf('withdraw'), { now }).notices[0]!.kind).toBe(
      'NoOpAlreadyInState',
    );
  });
});

describe('the policies of a transition', () => {
  it('a policy sends its routes in order when its condition holds', () => {
    const { emissions } = decide(instanceIn('draft'), triggerOf('submit', { payload: { amount: 5_000 } }));
    expect(emissions.slice(1)).toEqual([
      {
        kind: 'hook',
        policy: 'check-identity',
        hook: 'verify-identity',
        consumers: ['kyc'],
        onSucceeded: 'approve',
        onFailed: 'reject',
      },
      { kind: 'workflow', policy: 'check-identity', workflow: 'notify-underwriter' },
    ]);
  });

  it('a policy whose condition cannot be evaluated sends nothing and is reported; the transition stands', () => {
    const { fact, emissions, notice } = decide(instanceIn('draft'), triggerOf('submit'));
    expect(fact).toMatchObject({ to: 'submitted' });
    expect(emissions).toHaveLength(1);
    expect(notice).toMatchObject({
      kind: 'DispatchFailure',
      details: { code: 'POLICY_FAILED', policy: 'check-identity', event: 'submit', from: 'draft', to: 'submitted' },
    });
  });

  it('a policy reads payload, instance and transition', () => {
    const when = [
      'payload.size === 3',
      'instance.externalRef === "loan-1" && instance.env === "prod" && instance.definition === "loan"',
      'instance.revision === 2',
      'transition.event === "submit" && transition.code === 1001 && transition.eventId.length === 36',
      'transition.from === "draft" && transition.to === "submitted" && transition.at === 5000',
      'transition.actor === "ada" && transition.requestId === "r-1" && transition.cause === "trigger"',
    ].join(' && ');
    const policy = { name: 'p', on: { transition: {} }, when, routes: [{ workflow: 'w' }] };
    const all = machineOf(loan(), { env: 'prod', definition: 'loan', policies: [policy] });
    const trigger = triggerOf('submit', { payload: { size: 3 }, actor: 'ada' });
    expect(transition(all, instanceIn('draft'), trigger, { now }).emissions).toHaveLength(2);
  });

  it('a policy of a state applies when the state is entered, not when the instance stays in it', () => {
    const transitions = [
      ...(loan().transitions as Json[]),
      { from: 'submitted', on: 'renew', to: 'submitted', reenter: true },
    ];
    const events = { ...(loan().events as object), renew: {} };
    const policy = { name: 'p', on: { state: 'submitted' }, routes: [{ workflow: 'w' }] };
    const entering = machineOf(
      { ...loan(), transitions, events },
      { env: 'prod', definition: 'loan', policies: [policy] },
    );
    const sent = (state: string, event: string) =>
      transition(entering, instanceIn(state), triggerOf(event), { now }).emissions.length - 1;
    expect([sent('draft', 'submit'), sent('submitted', 'remind'), sent('submitted', 'renew')]).toEqual([1, 0, 1]);
  });
});

describe('a timeout', () => {
  const fired = (count: number) => triggerOf('remind', { cause: { type: 'timeout', state: 'submitted', count } });

  it('a timeout is due after its delay from the entry, and names the event it triggers', () => {
    expect(timeoutOf(machine, instanceIn('submitted'))).toEqual({ event: 'remind', count: 1, dueAt: 1_000 + 2 * DAY });
    expect(timeoutOf(machine, instanceIn('draft'))).toBeNull();
    expect(timeoutOf(machine, instanceIn('gone'))).toBeNull();
  });

  it('a repeating timeout counts from firing to firing, up to its maximum', () => {
    let instance = instanceIn('submitted');
    const due: (number | null)[] = [];
    for (let at = 10 * DAY; timeoutOf(machine, instance) !== null; at += 10 * DAY) {
      const { facts, notices } = transition(machine, instance, fired(instance.timeoutsFired + 1), { now: at });
      expect(notices).toMatchObject([{ kind: 'TimeoutTriggered', details: { count: instance.timeoutsFired + 1 } }]);
      const { to, revision, stateSince, timeoutsFired, dueAt } = facts[0]!;
      instance = { ...instance, state: to, revision, stateSince, timeoutsFired, dueAt };
      due.push(dueAt);
    }
    expect(due).toEqual([12 * DAY, 22 * DAY, null]);
    expect(instance).toMatchObject({ stateSince: 1_000, timeoutsFired: 3 });
  });

  it('an event that stays in the state does not postpone the timeout', () => {
    const second = instanceIn('submitted', { timeoutsFired: 1, dueAt: 77 });
    expect(decide(second, triggerOf('remind')).fact).toMatchObject({ stateSince: 1_000, timeoutsFired: 1, dueAt: 77 });
    const over = instanceIn('submitted', { timeoutsFired: 3 });
    expect(decide(over, triggerOf('remind')).fact).toMatchObject({ dueAt: null });
  });

  it('a timeout without a known last due time follows its original plan', () => {
    const second = instanceIn('submitted', { timeoutsFired: 1, dueAt: null });
    expect(timeoutOf(machine, second)).toMatchObject({ count: 2, dueAt: 1_000 + 4 * DAY });
  });

  it('a timeout fires once by default, and a repeating timeout without a maximum never ends', () => {
    const withTimeout = (timeout: Json) =>
      machineOf({ ...loan(), states: { ...(loan().states as object), submitted: { timeout } } });
    const once = withTimeout({ after: '1s', event: 'remind' });
    expect(timeoutOf(once, instanceIn('submitted', { timeoutsFired: 1 }))).toBeNull();
    const endless = withTimeout({ after: '1s', event: 'remind', mode: 'repeat', interval: '5s' });
    const { facts } = transition(endless, instanceIn('submitted', { timeoutsFired: 900 }), fired(901), { now });
    expect(facts[0]).toMatchObject({ timeoutsFired: 901, dueAt: now + 5_000 });
  });

  it('a transition with reenter restarts the timeout', () => {
    const transitions = (loan().transitions as { on: string }[]).map((each) =>
      each.on === 'remind' ? { ...each, reenter: true } : each,
    );
    const anew = machineOf({ ...loan(), transitions: transitions as Json });
    const { facts } = transition(anew, instanceIn('submitted', { timeoutsFired: 2 }), fired(3), { now });
    expect(facts[0]).toMatchObject({ stateSince: now, timeoutsFired: 0, dueAt: now + 2 * DAY });
  });

  it('a state without a timeout is not affected by timeouts', () => {
    const transitions = [...(loan().transitions as Json[]), { from: 'draft', on: 'remind', to: 'draft' }];
    const { facts } = transition(machineOf({ ...loan(), transitions }), instanceIn('draft'), fired(1), { now });
    expect(facts[0]).toMatchObject({ stateSince: 1_000, timeoutsFired: 0, dueAt: null });
  });
});

import { describe, expect, it } from 'vitest';
import type { Json } from '../core/json/json.ts';
import { subscriptionProblems } from './consumer-request.ts';
import { asksForExecutions, matching, type Subject, type Subscription } from './subscription.ts';

const submitted: Subject = { kind: 'transition', env: 'prod', definition: 'loan', event: 'submit' };
const completed: Subject = { kind: 'execution', env: 'prod', workflow: 'notify', type: 'RunCompleted' };

const gets = (subject: Subject, ...subscribed: Subscription[]): boolean =>
  matching([{ subscribed }], subject).length === 1;

describe('a subscription to transitions', () => {
  it.each<[Subscription, boolean]>([
    [{}, true],
    [{ env: 'prod' }, true],
    [{ env: 'test' }, false],
    [{ definition: 'loan' }, true],
    [{ definition: 'claim' }, false],
    [{ events: ['approve', 'submit'] }, true],
    [{ events: ['approve'] }, false],
    [{ kinds: ['transition'] }, true],
    [{ kinds: ['hook'] }, false],
    [{ kinds: ['execution'] }, false],
    [{ env: 'prod', definition: 'loan', kinds: ['transition', 'hook'], events: ['submit'] }, true],
    [{ workflows: ['notify'] }, false],
    [{ types: ['RunCompleted'] }, false],
  ])('the subscription %j gets the transition: %s', (subscription, expected) => {
    expect(gets(submitted, subscription)).toBe(expected);
  });
});

describe('a subscription to executions', () => {
  it.each<[Subscription, boolean]>([
    // Executions must be asked for explicitly.
    [{}, false],
    [{ env: 'prod' }, false],
    [{ kinds: ['execution'] }, true],
    [{ kinds: ['execution'], env: 'test' }, false],
    [{ kinds: ['transition'] }, false],
    [{ workflows: ['notify'] }, true],
    [{ workflows: ['other'] }, false],
    [{ types: ['RunFailed', 'RunCompleted'] }, true],
    [{ types: ['RunFailed'] }, false],
    [{ workflows: ['notify'], types: ['RunFailed'] }, false],
    [{ kinds: ['transition'], types: ['RunCompleted'] }, false],
    [{ kinds: ['execution'], definition: 'loan' }, false],
    [{ kinds: ['execution'], events: ['submit'] }, false],
  ])('the subscription %j gets the execution event: %s', (subscription, expected) => {
    expect(gets(completed, subscription)).toBe(expected);
    if (expected) expect(asksForExecutions(subscription)).toBe(true);
  });
});

it('one matching subscription is enough, and without a subscription nothing matches', () => {
  expect(gets(submitted, { env: 'test' }, { definition: 'loan' })).toBe(true);
  expect(gets(submitted)).toBe(false);
});

it('each consumer is matched by its own subscriptions', () => {
  const loans = { code: 'a', subscribed: [{ definition: 'loan' }] };
  const claims = { code: 'b', subscribed: [{ definition: 'claim' }] };
  expect(matching([loans, claims], submitted)).toEqual([loans]);
});

describe('problems of subscriptions', () => {
  it.each<[Json, string[]]>([
    [[{ env: 'prod', kinds: ['hook'], events: ['a'], workflows: ['w'], types: ['RunFailed'] }], []],
    [{ env: 'prod' }, ['/subscriptions']],
    [['prod'], ['/subscriptions/0']],
    [[{ environment: 'prod' }], ['/subscriptions/0/environment']],
    [
      [{ env: '' }, { definition: 1 }],
      ['/subscriptions/0/env', '/subscriptions/1/definition'],
    ],
    [
      [{ events: [] }, { types: 'RunFailed' }],
      ['/subscriptions/0/events', '/subscriptions/1/types'],
    ],
    [[{ kinds: ['transition', 'work'] }], ['/subscriptions/0/kinds/1']],
    [[{ types: ['RunStarted', 'RunFaild'] }], ['/subscriptions/0/types/1']],
    [Array.from({ length: 101 }, () => ({})), ['/subscriptions']],
  ])('problems of the subscriptions are reported with their paths: %j', (given, paths) => {
    expect(subscriptionProblems(given).map(({ path }) => path)).toEqual(paths);
  });

  it('a misspelt name is reported with a suggestion', () => {
    const suggested = (field: string, name: string) => subscriptionProblems([{ [field]: [name] }])[0]?.suggestion;
    expect(suggested('types', 'RunFaild')).toBe('did you mean `RunFailed`?');
    expect(suggested('kinds', 'transitions')).toBe('did you mean `transition`?');
    expect(suggested('types', 'order.paid')).toBeUndefined();
  });
});

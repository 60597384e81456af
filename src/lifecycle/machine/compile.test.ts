import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../core/json/json.ts';
import { pointerKeys } from '../../core/problem/pointer.ts';
import type { Problem } from '../../core/problem/problem.ts';
import { checkPolicies, compileLifecycle } from './compile.ts';
import { loan, loanPolicies } from './loan.testing.ts';
import { findEvent } from './machine.ts';

/** Replacement values by JSON pointer; undefined removes the value. */
type Spoiling = Readonly<Record<string, Json | undefined>>;

/** A copy of both documents with some of their values replaced. */
function spoilt(spoiling: Spoiling): { definition: Json; policies: Json } {
  const source = { definition: loan(), policies: loanPolicies() };
  for (const [pointer, value] of Object.entries(spoiling)) {
    const keys = pointerKeys(pointer);
    const last = keys.pop()!;
    const parent = keys.reduce<Json>((at, key) => (at as JsonObject)[key]!, source) as JsonObject;
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
  return source;
}

const told = (problems: readonly Problem[]): string[] =>
  problems.map(({ code, path, severity }) => `${severity === undefined ? '' : 'warning '}${code} ${path}`);

describe('a valid lifecycle', () => {
  const { machine, rows, problems } = compileLifecycle(loan(), loanPolicies());

  it('a valid lifecycle has no problems, and its names are resolved', () => {
    expect(problems).toEqual([]);
    expect([...machine!.states.keys()]).toEqual(['draft', 'submitted', 'approved', 'rejected']);
    expect(machine!.states.get('submitted')!.timeout).toEqual({
      afterMs: 172_800_000,
      event: 'remind',
      mode: 'repeat',
      max: 3,
      intervalMs: 172_800_000,
    });
    expect(machine!.transitions.map((each) => each.policies.map(({ name }) => name))).toEqual([
      ['check-identity'],
      [],
      [],
      [],
    ]);
  });

  it('a lifecycle becomes rows', () => {
    expect(rows).toMatchObject({ env: 'prod', name: 'loan', checksum: machine!.checksum });
    expect(JSON.parse(rows!.definition)).toEqual(loan());
    expect(JSON.parse(rows!.policies!)).toEqual(loanPolicies());
    expect(rows!.states[1]).toEqual({
      name: 'submitted',
      isInitial: false,
      isFinal: false,
      timeoutMs: 172_800_000,
      timeoutEvent: 'remind',
      timeoutMode: 'repeat',
      timeoutMax: 3,
      timeoutIntervalMs: 172_800_000,
    });
    expect(rows!.states[0]).toMatchObject({ isInitial: true, timeoutMs: null, timeoutIntervalMs: null });
    expect(rows!.events[0]).toEqual({ name: 'submit', eventId: machine!.events.get('submit')!.id, code: 1001 });
    expect(rows!.transitions[1]).toEqual({
      fromState: 'submitted',
      event: 'remind',
      toState: 'submitted',
      reenter: false,
    });
    expect(rows!.policyRows).toEqual([
      {
        name: 'check-identity',
        ordinal: 0,
        on: '{"transition":{"event":"submit"}}',
        condition: 'payload.amount > 1000',
      },
    ]);
    expect(rows!.routes.map(({ hook, workflow, consumers }) => [hook, workflow, consumers])).toEqual([
      ['verify-identity', null, ['kyc']],
      [null, 'notify-underwriter', []],
    ]);
  });

  it('the checksum does not depend on the order of keys, and changes with any other change', () => {
    const reversed = Object.fromEntries(Object.entries(loan()).reverse());
    expect(compileLifecycle({ $schema: 'x', ...reversed }, { $schema: 'y', ...loanPolicies() }).machine!.checksum).toBe(
      machine!.checksum,
    );
    const others = [compileLifecycle(loan()), compileLifecycle({ ...loan(), description: 'x' }, loanPolicies())];
    expect(new Set([machine!.checksum, ...others.map((other) => other.machine!.checksum)]).size).toBe(3);
  });

  it('an event is found by name, id and code, and has the same id in every version', () => {
    const { id } = machine!.events.get('approve')!;
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    for (const key of ['approve', id, id.toUpperCase(), 1003, '1003']) {
      expect(findEvent(machine!, key)!.name).toBe('approve');
    }
    expect([findEvent(machine!, 'aprove'), findEvent(machine!, 7), findEvent(machine!, '__proto__')]).toEqual([
      null,
      null,
      null,
    ]);
    const other = compileLifecycle({ ...loan(), description: 'second' }).machine!;
    expect(other.events.get('approve')!.id).toBe(id);
    expect(compileLifecycle({ ...loan(), env: 'test' }).machine!.events.get('approve')!.id).not.toBe(id);
  });

  it('policies of a state, policies without a condition and events without a code are accepted', () => {
    const definition = { ...loan(), events: { submit: {}, remind: {}, approve: {}, reject: {} } };
    const on = { state: 'approved' };
    const policies = [{ name: 'tell', on, routes: [{ hook: 'tell', consumers: ['crm'] }] }];
    const compiled = compileLifecycle(definition, { env: 'prod', definition: 'loan', policies });
    expect(compiled.problems).toEqual([]);
    expect(compiled.rows!.policyRows).toEqual([
      { name: 'tell', ordinal: 0, on: '{"state":"approved"}', condition: null },
    ]);
    expect(compiled.rows!.routes[0]).toMatchObject({ onSucceeded: null, onFailed: null });
    expect(compiled.machine!.transitions.map((each) => each.policies.length)).toEqual([0, 0, 1, 0]);
  });
});

describe('an invalid definition', () => {
  const timeout = '/definition/states/submitted/timeout';
  const long = 'x'.repeat(201);

  it.each<[string, Spoiling, string[]]>([
    ['an unknown initial state', { '/definition/initial': 'drft' }, ['UNKNOWN_STATE /definition/initial']],
    ['no initial state', { '/definition/initial': undefined }, ['REQUIRED /definition/initial']],
    [
      'an unknown state',
      { '/definition/transitions/0/to': 'somewhere' },
      [
        'UNKNOWN_STATE /definition/transitions/0/to',
        'warning DEAD_END /definition/states/draft',
        ...['submitted', 'approved', 'rejected'].map((state) => `UNREACHABLE /definition/states/${state}`),
        'warning UNUSED_EVENT /definition/events/submit',
      ],
    ],
    [
      'a slip in a state, and nothing that only follows from it',
      { '/definition/transitions/0/to': 'submited' },
      ['UNKNOWN_STATE /definition/transitions/0/to'],
    ],
    ['an unknown event', { '/definition/transitions/0/on': 'sbmit' }, ['UNKNOWN_EVENT /definition/transitions/0/on']],
    ['an island', { '/definition/states/island': { final: true } }, ['UNREACHABLE /definition/states/island']],
    [
      'two transitions for a state and event',
      { '/definition/transitions/4': { from: 'draft', on: 'submit', to: 'rejected' } },
      ['DUPLICATE_TRANSITION /definition/transitions/4'],
    ],
    [
      'a timeout without a transition',
      { [`${timeout}/event`]: 'submit' },
      [`TIMEOUT_WITHOUT_TRANSITION ${timeout}/event`],
    ],
    ['a timeout with an unknown event', { [`${timeout}/event`]: 'wake-up' }, [`UNKNOWN_EVENT ${timeout}/event`]],
    [
      'a final state with an exit',
      { '/definition/transitions/4': { from: 'approved', on: 'reject', to: 'rejected' } },
      ['FINAL_WITH_EXIT /definition/transitions/4'],
    ],
    [
      'a final state with a timeout',
      { '/definition/states/approved/timeout': { after: '1h', event: 'reject' } },
      ['FINAL_WITH_TIMEOUT /definition/states/approved/timeout'],
    ],
    ['a code twice', { '/definition/events/reject/code': 1001 }, ['DUPLICATE_CODE /definition/events/reject/code']],
    [
      'a code that is the name of another event',
      { '/definition/events/1001': {} },
      ['DUPLICATE_CODE /definition/events/submit/code', 'warning UNUSED_EVENT /definition/events/1001'],
    ],
    ['a bad duration', { [`${timeout}/after`]: 'two days' }, [`BAD_DURATION ${timeout}/after`]],
    [
      'no time at all',
      { [`${timeout}/after`]: '0s', [`${timeout}/interval`]: 7 },
      [`WRONG_TYPE ${timeout}/interval`, `BAD_DURATION ${timeout}/after`],
    ],
    [
      'options of a repeat without one',
      { [`${timeout}/mode`]: 'once', [`${timeout}/interval`]: '1h' },
      [`UNUSED_OPTION ${timeout}/max`, `UNUSED_OPTION ${timeout}/interval`],
    ],
    ['a key that nobody knows', { '/definition/statess': {} }, ['UNKNOWN_KEY /definition/statess']],
    [
      'names that cannot be',
      { '/definition/events/ a': {}, [`/definition/events/${long}`]: {} },
      [
        'BAD_NAME /definition/events/ a',
        `BAD_NAME /definition/events/${long}`,
        'warning UNUSED_EVENT /definition/events/ a',
        `warning UNUSED_EVENT /definition/events/${long}`,
      ],
    ],
    [
      'a state without a name',
      { '/definition/states/': { final: true } },
      ['BAD_NAME /definition/states/', 'UNREACHABLE /definition/states/'],
    ],
    ['no states', { '/definition/states': {} }, expect.arrayContaining(['OUT_OF_RANGE /definition/states'])],
    ['states that are none', { '/definition/states': 7 }, expect.arrayContaining(['WRONG_TYPE /definition/states'])],
    ['events that are none', { '/definition/events': null }, ['WRONG_TYPE /definition/events']],
    ['a bad env', { '/definition/env': 'pr/od' }, expect.arrayContaining(['BAD_FORMAT /definition/env'])],
  ])('an invalid definition is refused: %s', (_, spoiling, expected) => {
    expect(told(compileLifecycle(spoilt(spoiling).definition).problems)).toEqual(expected);
  });

  it('a misspelt name is refused with a suggestion', () => {
    const { definition } = spoilt({ '/definition/initial': 'drft', '/definition/transitions/1/on': 'ping' });
    expect(compileLifecycle(definition).problems.slice(0, 2)).toMatchObject([
      { message: 'unknown state `drft`', suggestion: 'did you mean `draft`?' },
      { message: 'unknown event `ping`', suggestion: 'add it to `events`' },
    ]);
  });

  it('a name that is too long is cut in the message', () => {
    const { problems } = compileLifecycle({ ...loan(), initial: long });
    expect(problems.at(-1)!.message).toBe(`unknown state \`${'x'.repeat(40)}…\``);
  });

  it('an odd definition is accepted with warnings', () => {
    const { definition } = spoilt({
      '/definition/states/approved': {},
      '/definition/states/waiting': { timeout: { after: '1h', event: 'tick', mode: 'repeat' } },
      '/definition/states/submitted/timeout/event': 'approve',
      '/definition/events/tick': {},
      '/definition/events/idle': {},
      '/definition/transitions/4': { from: 'draft', on: 'tick', to: 'waiting', reenter: true },
      '/definition/transitions/5': { from: 'waiting', on: 'tick', to: 'waiting', reenter: true },
    });
    const { machine, problems } = compileLifecycle(definition);
    expect(machine).not.toBeNull();
    expect(told(problems)).toEqual([
      'warning UNUSED_OPTION /definition/transitions/4/reenter',
      'warning NEVER_REPEATS /definition/states/submitted/timeout/mode',
      'warning DEAD_END /definition/states/approved',
      'warning NEVER_COUNTS /definition/states/waiting/timeout/mode',
      'warning UNUSED_EVENT /definition/events/idle',
    ]);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a number', 7],
    ['a list', []],
    ['a function', () => 1],
    ['a key after the prototype', JSON.parse('{"__proto__":{}}')],
  ])('a definition that is %s is refused, and nothing is thrown', (_, definition) => {
    const { machine, rows, problems } = compileLifecycle(definition);
    expect([machine, rows]).toEqual([null, null]);
    expect(problems.length).toBeGreaterThan(0);
  });

  it('a definition too large to compile quickly is refused', () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`s${index}`, {}]));
    const transitions = Array.from({ length: 20_001 }, () => 1);
    const { problems } = compileLifecycle({ ...loan(), states: many, events: many, transitions });
    expect(problems.map(({ code }) => code)).toEqual(['TOO_MANY_STATES', 'TOO_MANY_EVENTS', 'TOO_MANY_TRANSITIONS']);
  });
});

describe('invalid policies', () => {
  const first = '/policies/policies/0';
  const other = { name: 'other', on: { transition: {} }, routes: [{ workflow: 'w' }] };

  it.each<[string, Spoiling, string[]]>([
    ['for another env', { '/policies/env': 'test' }, ['OTHER_LIFECYCLE /policies/env']],
    ['for another definition', { '/policies/definition': 'lone' }, ['OTHER_LIFECYCLE /policies/definition']],
    ['without an env', { '/policies/env': undefined }, ['REQUIRED /policies/env']],
    [
      'a name twice',
      { '/policies/policies/1': { ...other, name: 'check-identity' } },
      ['DUPLICATE_POLICY /policies/policies/1/name'],
    ],
    [
      'two without a name',
      { '/policies/policies/1': { ...other, name: '' }, '/policies/policies/2': { ...other, name: '' } },
      ['OUT_OF_RANGE /policies/policies/1/name', 'OUT_OF_RANGE /policies/policies/2/name'],
    ],
    ['a bad condition', { [`${first}/when`]: 'payload.amount >' }, [`BAD_CONDITION ${first}/when`]],
    ['an unknown name in a condition', { [`${first}/when`]: 'amount > 5\n' }, [`BAD_CONDITION ${first}/when`]],
    ['an unknown event', { [`${first}/on/transition/event`]: 'submt' }, [`UNKNOWN_EVENT ${first}/on/transition/event`]],
    [
      'unknown states',
      { [`${first}/on/transition/from`]: 'a', [`${first}/on/transition/to`]: 'b' },
      [`UNKNOWN_STATE ${first}/on/transition/from`, `UNKNOWN_STATE ${first}/on/transition/to`],
    ],
    ['an unknown state to enter', { [`${first}/on`]: { state: 'nowhere' } }, [`UNKNOWN_STATE ${first}/on/state`]],
    ['both ways to say when', { [`${first}/on/state`]: 'draft' }, [`BAD_SELECTOR ${first}/on`]],
    ['no way to say when', { [`${first}/on`]: {} }, [`BAD_SELECTOR ${first}/on`]],
    ['a hook to nobody', { [`${first}/routes/0/consumers`]: undefined }, [`NO_CONSUMERS ${first}/routes/0`]],
    ['a hook to an empty list', { [`${first}/routes/0/consumers`]: [] }, [`OUT_OF_RANGE ${first}/routes/0/consumers`]],
    [
      'the same consumer twice',
      { [`${first}/routes/0/consumers`]: ['kyc', 'kyc', 7] },
      [`WRONG_TYPE ${first}/routes/0/consumers/2`, `DUPLICATE_CONSUMER ${first}/routes/0/consumers/1`],
    ],
    ['an empty route', { [`${first}/routes/1`]: {} }, [`EMPTY_ROUTE ${first}/routes/1`]],
    [
      'a hook of the wrong type',
      { [`${first}/routes/1`]: { hook: 7, consumers: ['kyc'] } },
      [`WRONG_TYPE ${first}/routes/1/hook`],
    ],
    [
      'a hook and a workflow',
      { [`${first}/routes/0/workflow`]: 'w' },
      ['hook', 'consumers', 'onProcessed'].map((key) => `ROUTE_CONFLICT ${first}/routes/0/${key}`),
    ],
    [
      'unknown events afterwards',
      { [`${first}/routes/0/onProcessed`]: { succeeded: 'yes', failed: 'rejct' } },
      ['succeeded', 'failed'].map((outcome) => `UNKNOWN_EVENT ${first}/routes/0/onProcessed/${outcome}`),
    ],
    [
      'a policy that never applies',
      { [`${first}/on/transition/from`]: 'approved' },
      [`warning IDLE_POLICY ${first}/on`],
    ],
    ['no states to speak of', { '/definition/states': 7 }, expect.arrayContaining(['WRONG_TYPE /definition/states'])],
    ['a machine without a name', { '/definition/name': undefined }, ['REQUIRED /definition/name']],
    [
      'more routes than can be numbered',
      { [`${first}/routes`]: Array.from({ length: 251 }, () => ({ workflow: 'w' })) },
      ['TOO_MANY_ROUTES /policies/policies'],
    ],
    ['something else', { '/policies': 7 }, ['WRONG_TYPE /policies']],
  ])('invalid policies are refused: %s', (_, spoiling, expected) => {
    const { definition, policies } = spoilt(spoiling);
    expect(told(compileLifecycle(definition, policies).problems)).toEqual(expected);
  });

  it('a file of policies alone is checked without the names of the machine', () => {
    expect(checkPolicies(loanPolicies())).toEqual([]);
    const { policies } = spoilt({ [`${first}/on`]: { state: 'whatever' }, [`${first}/when`]: '1 +' });
    expect(told(checkPolicies(policies))).toEqual(['BAD_CONDITION /policies/0/when']);
    expect(told(checkPolicies([]))).toEqual(['WRONG_TYPE ']);
    expect(told(checkPolicies({ env: Number.NaN }))).toEqual(['NOT_JSON /env']);
  });
});

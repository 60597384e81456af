import { describe, expect, it } from 'vitest';
import { compileDefinition } from './compile.ts';
import { call, codesOf, compiled, nodeOf, pipeline, problemsOf } from './definition.testing.ts';

describe('compiling a pipeline', () => {
  it('a pipeline goes on after failures, for thirty days at most', () => {
    expect(compiled(pipeline({ charge: call() }))).toMatchObject({
      format: 'pipeline',
      id: 'test',
      start: [0],
      onUnhandledFailure: 'continue',
      timeoutMs: 2_592_000_000,
      outputs: null,
    });
    expect(compiled(pipeline({ a: call() }, { max_duration_seconds: 60 })).timeoutMs).toBe(60_000);
  });

  it('a task waits for the success of its needs, or with `if` for their end', () => {
    const plan = compiled(
      pipeline({
        charge: call(),
        ship: call({ needs: ['charge'] }),
        refund: call({ needs: ['charge'], if: 'tasks.charge.status_code != 200' }),
      }),
    );
    expect(plan.edges).toEqual([
      { from: 0, to: 1, when: 'success', condition: null, implicit: false },
      { from: 0, to: 2, when: 'always', condition: null, implicit: false },
    ]);
    expect(plan.nodes.map(({ join }) => join)).toEqual(['all', 'all', 'resolved']);
    expect(plan.nodes[2]!.condition).toMatchObject({ source: 'tasks.charge.status_code != 200' });
    expect(plan.nodes[0]!.outgoing).toEqual([0, 1]);
  });

  it('an `if` without needs is evaluated as well', () => {
    expect(nodeOf(pipeline({ a: call({ if: 'trigger.body.on == true' }) }), 'a')).toMatchObject({
      join: 'resolved',
      incoming: [],
      condition: { source: 'trigger.body.on == true' },
    });
  });

  it('a pipeline keeps the order of its tasks', () => {
    const plan = compiled(pipeline({ zebra: call(), apple: call(), mango: call() }));
    expect(plan.nodes.map(({ id }) => id)).toEqual(['zebra', 'apple', 'mango']);
  });

  it('a need that is listed twice counts once, with a warning', () => {
    const result = compileDefinition(pipeline({ a: call(), b: call({ needs: ['a', 'a'] }) }));
    expect(result).toMatchObject({
      ok: true,
      plan: { edges: [{ from: 0, to: 1 }] },
      warnings: [{ code: 'DUPLICATE_DEPENDENCY', path: '/tasks/b/needs/1', severity: 'warning' }],
    });
  });
});

describe('steps of a pipeline', () => {
  it('an HTTP task is a POST by default, with six attempts of thirty seconds', () => {
    expect(nodeOf(pipeline({ a: call() }), 'a')).toMatchObject({
      step: { kind: 'action', actionType: 'http.step' },
      parameters: { kind: 'literal', value: { url: 'https://example.com/', method: 'POST' } },
      policy: {
        timeoutMs: 30_000,
        rerenderOnRetry: false,
        retry: { maxAttempts: 6, baseDelayMs: 2_000, backoffFactor: 2, maxDelayMs: 300_000, jitter: true },
      },
    });
  });

  it('an HTTP task keeps its method, headers, body, retries and timeout', () => {
    const fields = { method: 'PUT', headers: { a: 'b' }, body: [1], retries: 0, timeout: 5 };
    expect(nodeOf(pipeline({ a: call(fields) }), 'a')).toMatchObject({
      parameters: { value: { url: 'https://example.com/', method: 'PUT', headers: { a: 'b' }, body: [1] } },
      policy: { timeoutMs: 5, retry: { maxAttempts: 1 } },
    });
    expect(nodeOf(pipeline({ a: call({ body: null }) }), 'a').parameters).toMatchObject({ value: { body: null } });
  });

  it.each([
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    [90, 90_000],
    [0.5, 500],
  ])('a sleep of %j is accepted', (sleep, durationMs) => {
    expect(nodeOf(pipeline({ a: { sleep } }), 'a')).toMatchObject({
      step: { kind: 'sleep', durationMs },
      parameters: null,
      policy: { timeoutMs: null, retry: { maxAttempts: 1 } },
    });
  });

  it('a task may wait for a webhook, with or without a timeout', () => {
    expect(nodeOf(pipeline({ a: { wait_for_webhook: { timeout: '1h' } } }), 'a').step).toEqual({
      kind: 'webhook',
      timeoutMs: 3_600_000,
    });
    expect(nodeOf(pipeline({ a: { wait_for_webhook: {} } }), 'a').step).toEqual({ kind: 'webhook', timeoutMs: null });
  });

  it('null means that a field is not set, even inside a wait', () => {
    const wait = { wait_for_webhook: { timeout: null } };
    expect(nodeOf(pipeline({ a: wait }), 'a').step).toEqual({ kind: 'webhook', timeoutMs: null });
    const several = { wait_for: { webhook: true, timeout: null, events: null } };
    expect(nodeOf(pipeline({ a: several }), 'a').step).toMatchObject({ kind: 'wait', timeoutMs: null, events: [] });
  });

  it('a task must have exactly one type', () => {
    expect(problemsOf(pipeline({ a: { needs: [] } }))).toEqual([
      {
        code: 'MISSING_STEP_TYPE',
        path: '/tasks/a',
        message: 'a task needs something to do',
        suggestion: 'add one of `url`, `sleep`, `wait_for_webhook`, `wait_for` and `end`',
      },
    ]);
    expect(codesOf(pipeline({ a: call({ sleep: '1s', wait_for_webhook: {} }) }))).toEqual([
      'STEP_TYPE_CONFLICT /tasks/a/sleep',
      'STEP_TYPE_CONFLICT /tasks/a/wait_for_webhook',
    ]);
    expect(codesOf(pipeline({ a: { sleep: 1, method: 'GET', body: {}, retries: 1 } }))).toEqual([
      'STEP_TYPE_CONFLICT /tasks/a/method',
      'STEP_TYPE_CONFLICT /tasks/a/body',
      'STEP_TYPE_CONFLICT /tasks/a/retries',
    ]);
  });
});

describe('values of a pipeline', () => {
  it.each(['1 week', '', '-5s', 1e12])('a sleep of %j is refused', (sleep) => {
    expect(codesOf(pipeline({ a: { sleep } }))).toEqual(['BAD_DURATION /tasks/a/sleep']);
  });

  it('a sleep or timeout of another type is reported as a wrong type', () => {
    expect(problemsOf(pipeline({ a: { sleep: true }, b: { wait_for_webhook: { timeout: [] } } }))).toMatchObject([
      {
        code: 'WRONG_TYPE',
        path: '/tasks/a/sleep',
        message: 'must be a duration: text, or seconds as a number, not true',
      },
      { code: 'WRONG_TYPE', path: '/tasks/b/wait_for_webhook/timeout' },
    ]);
    expect(codesOf(pipeline({ a: { wait_for_webhook: { timeout: 'soon' } } }))).toEqual([
      'BAD_DURATION /tasks/a/wait_for_webhook/timeout',
    ]);
  });

  it.each([
    'example.com',
    '/orders',
    'ftp://example.com',
    'https://',
    'http:// x',
    'https://a b.c/',
    'https://u:p@example.com/',
    'https://?x',
  ])('the URL %j is refused', (url) => {
    expect(codesOf(pipeline({ a: { url } }))).toEqual(['BAD_URL /tasks/a/url']);
  });

  it.each([
    'http://localhost:80',
    'HTTPS://example.com/{{trigger.body.id}}',
    '{{trigger.body.url}}',
    'https://{{ trigger.body.host }}/x',
    'https://a.{{trigger.body.host}}:{{ 8 }}',
  ])('the URL %j is accepted', (url) => {
    expect(codesOf(pipeline({ a: { url } }))).toEqual([]);
  });

  it('an empty URL is reported only as empty', () => {
    expect(codesOf(pipeline({ a: { url: '' } }))).toEqual(['OUT_OF_RANGE /tasks/a/url']);
  });

  it('headers that HTTP does not allow are refused', () => {
    const headers = {
      'X-Ok': 'a {{trigger.body.x}}\n',
      'bad name': 'x',
      Host: 'other',
      'x-cut': 'a\r\nb: c',
      'x-{{trigger.body.n}}': '1',
    };
    expect(problemsOf(pipeline({ a: call({ headers }) }))).toEqual([
      {
        code: 'BAD_HEADER',
        path: '/tasks/a/headers/bad name',
        message: '`bad name` has a name that HTTP does not allow',
      },
      { code: 'BAD_HEADER', path: '/tasks/a/headers/Host', message: '`Host` is set by the client and cannot be given' },
      {
        code: 'BAD_HEADER',
        path: '/tasks/a/headers/x-cut',
        message: '`x-cut` has a value that HTTP does not allow (line breaks, or characters beyond Latin-1)',
      },
      {
        code: 'BAD_HEADER',
        path: '/tasks/a/headers/x-{{trigger.body.n}}',
        message: '`x-{{trigger.body.n}}` has a name that HTTP does not allow',
        suggestion: 'templates are for values: write the name out',
      },
    ]);
  });

  it('a template in a field name is refused', () => {
    expect(problemsOf(pipeline({ a: call({ body: [{ x: { '{{trigger.body.k}}': 1 } }] }) }))).toEqual([
      {
        code: 'BAD_TEMPLATE',
        path: '/tasks/a/body/0/x/{{trigger.body.k}}',
        message: 'the name `{{trigger.body.k}}` is not rendered',
        suggestion: 'templates are for values: write the name out',
      },
    ]);
  });

  it('the method must be in capitals', () => {
    expect(problemsOf(pipeline({ a: call({ method: 'post' }) }))).toMatchObject([
      { code: 'NOT_ALLOWED', path: '/tasks/a/method', suggestion: 'did you mean `POST`?' },
    ]);
  });

  it('a cron trigger and a cron expression need each other', () => {
    const withCron = (fields: object) => codesOf(pipeline({ a: call() }, { ...fields }));
    expect(withCron({ trigger: 'cron' })).toEqual(['CRON_REQUIRED /trigger']);
    expect(withCron({ cron_expression: '* * * * *' })).toEqual(['CRON_UNUSED /cron_expression']);
    expect(withCron({ trigger: 'cron', cron_expression: 'every day' })).toEqual(['BAD_CRON /cron_expression']);
    expect(withCron({ trigger: 'cron', cron_expression: 5 })).toEqual(['WRONG_TYPE /cron_expression']);
    expect(withCron({ trigger: 'cron', cron_expression: '0 9 * * MON-FRI' })).toEqual([]);
    expect(withCron({ trigger: 'cron', cron_expression: '*/10 0 9 * * 1-5' })).toEqual([]);
    expect(withCron({ trigger: 'cron', cron_expression: ' @Daily ' })).toEqual([]);
    expect(withCron({ trigger: 'cron', cron_expression: '@daily 9' })).toEqual(['BAD_CRON /cron_expression']);
    expect(withCron({ trigger: 'cron', cron_expression: '* * * * * * *' })).toEqual(['BAD_CRON /cron_expression']);
    expect(withCron({ trigger: 'webhook', enabled: false, description: 'x' })).toEqual([]);
  });

  it('the payload of a schedule is limited in size', () => {
    const scheduled = (payload: object) =>
      codesOf(pipeline({ a: call() }, { trigger: 'cron', cron_expression: '@daily', payload }));
    expect(scheduled({ text: 'x'.repeat(65_000) })).toEqual([]);
    expect(scheduled({ text: 'x'.repeat(65_536) })).toEqual(['PAYLOAD_TOO_LARGE /payload']);
  });

  it('a pipeline must have at least one task', () => {
    expect(codesOf(pipeline({}))).toEqual(['OUT_OF_RANGE /tasks']);
    expect(codesOf(pipeline({ a: 5 }))).toEqual(['WRONG_TYPE /tasks/a', 'MISSING_STEP_TYPE /tasks/a']);
    expect(codesOf({ name: 'x', tasks: [] })).toEqual(['WRONG_TYPE /tasks']);
  });

  it('unusable task names are refused', () => {
    expect(codesOf(pipeline({ '': call() }))).toEqual(['BAD_ID /tasks/']);
    expect(codesOf(pipeline({ ['x'.repeat(201)]: call() }))).toEqual([`BAD_ID /tasks/${'x'.repeat(201)}`]);
    expect(codesOf({ name: 'No Spaces', tasks: { a: call() } })).toEqual(['BAD_FORMAT /name']);
  });

  it('a need must exist, and a similar name is suggested', () => {
    expect(problemsOf(pipeline({ charge: call(), ship: call({ needs: ['chrage', 7] }) }))).toEqual([
      { code: 'WRONG_TYPE', path: '/tasks/ship/needs/1', message: 'must be a string, not 7' },
      {
        code: 'UNKNOWN_NODE',
        path: '/tasks/ship/needs/0',
        message: 'unknown task `chrage`',
        suggestion: 'did you mean `charge`?',
      },
    ]);
  });
});

// The templates and conditions of the specifications' own examples, word for word, with their expected values.

import { describe, expect, test } from 'vitest';
import { evaluateCondition } from '../expression/evaluate.ts';
import { type Dialect, parseExpression } from '../expression/parse.ts';
import type { Json } from '../json/json.ts';
import { compileTemplate } from './compile.ts';
import { renderTemplate } from './render.ts';

interface Format {
  readonly roots: readonly string[];
  readonly dialect: Dialect;
}

const GRAPH: Format = {
  roots: ['trigger', 'context', 'vars', 'spec', 'execution', 'principal'],
  dialect: 'javascript',
};
const PIPELINE: Format = { roots: ['trigger', 'tasks', 'wait'], dialect: 'pipeline' };
const PLAN: Format = { roots: ['inputs', 'steps', 'scope', 'on'], dialect: 'javascript' };

function rendered(value: Json, scope: Record<string, unknown>, format: Format): Json {
  const compiled = compileTemplate(value, format);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return renderTemplate(compiled.template, scope);
}

function holds(source: string, scope: Record<string, unknown>, format: Format): { value: boolean; warning?: string } {
  const parsed = parseExpression(source, format);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return evaluateCondition(parsed.expr, scope);
}

const answers = {
  title: 'Recommendation Engine Redesign',
  goal: 'Improve personalization accuracy by 25%',
  stakeholders: ['@doug', '@alice'],
  deadline: '2025-12-01',
  platform: 'Web + Mobile',
};

describe('examples of graph workflows', () => {
  const withItem = (item: Json) => ({
    trigger: { boardId: 42, itemId: 'item-7', channelId: 'C456' },
    context: { data: { 'get-item': { items: [item] }, 'fetch-items': { items: [1, 2, 3] } } },
  });
  const approved = withItem({ Status: 'Approved', Name: 'Apollo' });
  const rejected = withItem({ Status: 'Rejected', Name: 'Apollo' });

  test('15.1 simple linear workflow', () => {
    const fetchItems = {
      boardId: '{{ trigger.boardId }}',
      filter: { rules: [{ column: 'Status', operator: 'eq', value: 'In Progress' }] },
    };
    expect(rendered(fetchItems, approved, GRAPH)).toEqual({ ...fetchItems, boardId: 42 });
    const postSlack = {
      channelId: '{{ trigger.channelId }}',
      message: "Found {{ context.data['fetch-items'].items.length }} items in progress.",
    };
    expect(rendered(postSlack, approved, GRAPH)).toEqual({ channelId: 'C456', message: 'Found 3 items in progress.' });
  });

  test('15.2 branching with conditions', () => {
    const isApproved = "context.data['get-item'].items[0].Status === 'Approved'";
    const isNotApproved = "context.data['get-item'].items[0].Status !== 'Approved'";
    expect(holds(isApproved, approved, GRAPH)).toEqual({ value: true });
    expect(holds(isApproved, rejected, GRAPH)).toEqual({ value: false });
    expect(holds(isNotApproved, approved, GRAPH)).toEqual({ value: false });
    expect(holds(isNotApproved, rejected, GRAPH)).toEqual({ value: true });

    const filter = { rules: [{ column: 'Item ID', operator: 'eq', value: '{{ trigger.itemId }}' }] };
    expect(rendered(filter, approved, GRAPH)).toEqual({
      rules: [{ column: 'Item ID', operator: 'eq', value: 'item-7' }],
    });
    const page = { space: 'PROJECTS', title: "{{ context.data['get-item'].items[0].Name }} - Project Brief" };
    expect(rendered(page, approved, GRAPH)).toEqual({ space: 'PROJECTS', title: 'Apollo - Project Brief' });
    const notApproved = "Project '{{ context.data['get-item'].items[0].Name }}' is not approved.";
    expect(rendered(notApproved, approved, GRAPH)).toBe("Project 'Apollo' is not approved.");

    const notifyError = "Onboarding failed at {{ context.data['get-item'].errorNode ?? 'unknown' }}.";
    expect(rendered(notifyError, approved, GRAPH)).toBe('Onboarding failed at unknown.');
    expect(rendered(notifyError, { trigger: {}, context: { data: {} } }, GRAPH)).toBe('Onboarding failed at unknown.');
    const failed = { context: { data: { 'get-item': { error: { code: 'X', message: 'x' }, errorNode: 'get-item' } } } };
    expect(rendered(notifyError, failed, GRAPH)).toBe('Onboarding failed at get-item.');
  });

  test('15.3 fan-out and fan-in', () => {
    expect(holds('true', {}, GRAPH)).toEqual({ value: true });
    expect(holds('false', {}, GRAPH)).toEqual({ value: false });
  });

  test('15.4 subworkflow', () => {
    const scope = {
      trigger: { data: { order: 1 }, channelId: 'C456' },
      context: { data: { 'invoke-child': { outputs: { result: 'done' } } } },
    };
    expect(rendered({ input: '{{ trigger.data }}' }, scope, GRAPH)).toEqual({ input: { order: 1 } });
    const message = "Child workflow completed with: {{ context.data['invoke-child'].outputs.result }}";
    expect(rendered(message, scope, GRAPH)).toBe('Child workflow completed with: done');
  });

  test('15.5 template-driven document creation', () => {
    const scope = {
      trigger: { spec: { answers } },
      context: { data: { 'render-template': { body: '<h1>x</h1>' } } },
    };
    expect(
      rendered({ templateSetId: 'project-briefs', version: 4, answers: '{{ trigger.spec.answers }}' }, scope, GRAPH),
    ).toEqual({ templateSetId: 'project-briefs', version: 4, answers });
    expect(
      rendered(
        {
          title: '{{ trigger.spec.answers.title }} - Project Brief',
          body: "{{ context.data['render-template'].body }}",
        },
        scope,
        GRAPH,
      ),
    ).toEqual({ title: 'Recommendation Engine Redesign - Project Brief', body: '<h1>x</h1>' });
  });

  test('15.6 retry with deterministic parameters', () => {
    const scope = { trigger: { payload: [1, 2], timestamp: '2026-01-01T00:00:00Z' } };
    expect(rendered({ payload: '{{ trigger.payload }}', timestamp: '{{ trigger.timestamp }}' }, scope, GRAPH)).toEqual({
      payload: [1, 2],
      timestamp: '2026-01-01T00:00:00Z',
    });
  });

  test('15.7 Slack intake to Confluence', () => {
    const scope = {
      trigger: { source: 'slack', channelId: 'C456', userId: 'U123' },
      spec: { templateSetId: 'project-briefs', templateId: 'mobile-app', templateVersion: 1, answers },
      context: {
        data: { 'render-template': { body: 'b' }, 'create-confluence': { url: 'https://wiki.example.com/1' } },
      },
    };
    const render = {
      templateSetId: '{{ spec.templateSetId }}',
      templateId: '{{ spec.templateId }}',
      version: '{{ spec.templateVersion }}',
      answers: '{{ spec.answers }}',
    };
    expect(rendered(render, scope, GRAPH)).toEqual({
      templateSetId: 'project-briefs',
      templateId: 'mobile-app',
      version: 1,
      answers,
    });
    expect(rendered('{{ spec.answers.title }} - Project Brief', scope, GRAPH)).toBe(
      'Recommendation Engine Redesign - Project Brief',
    );
    expect(rendered("✅ Project brief created: {{ context.data['create-confluence'].url }}", scope, GRAPH)).toBe(
      '✅ Project brief created: https://wiki.example.com/1',
    );
  });
});

describe('002: pipelines', () => {
  const scope = {
    trigger: {
      body: { order_id: 123, user_id: 'u1', amount: 9.5, token: 'sk_live_xxx', email: 'alice@example.com', id: 'i1' },
      headers: { 'x-signature': 'abc' },
    },
    tasks: {
      charge: { status: 'success', status_code: 200, body: { amount: 9.5, approved: true }, headers: { etag: 'e' } },
      'payment-result': { status: 'received', body: { status: 'paid', payment_id: 'pay_1' } },
    },
    wait: { 'payment-result': { url: 'https://runlater.eu/wh/wsr_abc123' } },
  };

  test.each<[string, Json]>([
    ['{{trigger.body.order_id}}', 123],
    ['{{tasks.charge.body.amount}}', 9.5],
    ['{{trigger.body.user_id}}', 'u1'],
    ['{{trigger.body.amount}}', 9.5],
    ['{{wait.payment-result.url}}', 'https://runlater.eu/wh/wsr_abc123'],
    ['{{tasks.payment-result.body.payment_id}}', 'pay_1'],
    ['Bearer {{trigger.body.token}}', 'Bearer sk_live_xxx'],
    ['{{trigger.body.email}}', 'alice@example.com'],
    ['{{trigger.body.id}}', 'i1'],
    ['{{tasks.charge.status_code}}', 200],
    ['{{tasks.charge.status}}', 'success'],
    ['{{tasks.charge.headers.etag}}', 'e'],
    ['{{trigger.headers.x-signature}}', 'abc'],
  ])('the pipeline example is rendered: %s', (source, expected) => {
    expect(rendered(source, scope, PIPELINE)).toEqual(expected);
  });

  test.each<[string, boolean]>([
    ['tasks.charge.status_code == 200', true],
    ['tasks.charge.status_code != 200', false],
    ['tasks.charge.body.approved == true', true],
    ['tasks.charge.status_code >= 400', false],
    ["tasks.payment-result.body.status == 'paid'", true],
    ["tasks.payment-result.status == 'timeout'", false],
    ["tasks.charge.status == 'skipped'", false],
  ])('the pipeline example has its value: %s', (source, value) => {
    expect(holds(source, scope, PIPELINE)).toEqual({ value });
  });

  test('conditions read a skipped step as skipped, with no status code', () => {
    const skipped = { trigger: {}, tasks: { charge: { status: 'skipped', status_code: null, body: null } }, wait: {} };
    expect(holds('tasks.charge.status_code == 200', skipped, PIPELINE)).toEqual({ value: false });
    expect(holds('tasks.charge.status_code != 200', skipped, PIPELINE)).toEqual({ value: true });
    expect(holds("tasks.charge.status == 'skipped'", skipped, PIPELINE)).toEqual({ value: true });
  });

  test('references that fail to resolve are errors', () => {
    expect(() => rendered('{{tasks.charge.body.order_id}}', scope, PIPELINE)).toThrow(
      /^Failed to resolve \{\{tasks\.charge\.body\.order_id\}\}$/,
    );
    const truncated = { ...scope, tasks: { charge: { body: '{"amount":', is_truncated: true } } };
    expect(() => rendered('{{tasks.charge.body.amount}}', truncated, PIPELINE)).toThrow(
      /^Cannot read 'body\.amount' because the response from 'charge' exceeded the 256KB limit and was truncated$/,
    );
  });
});

describe('examples of execution plans', () => {
  test('a conditional step reads the value that `on` names', () => {
    const scope = { steps: { stepId: { output: { metadata: { someFlag: true } } } }, on: true };
    expect(holds('on === true', scope, PLAN)).toEqual({ value: true });
    expect(holds('steps.stepId.output.metadata.someFlag', scope, PLAN)).toEqual({ value: true });
  });
});

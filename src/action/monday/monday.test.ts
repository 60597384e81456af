import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Attempts, attemptsOf } from '../../../test/standin/attempts.ts';
import type { StandinBoard, StandinItem } from '../../../test/standin/monday-board.ts';
import { MONDAY_USER, type MondayStandin, mondayStandin } from '../../../test/standin/monday-standin.ts';
import type { Json } from '../../core/json/json.ts';
import { expectFailure, expectSuccess } from '../attempt.testing.ts';
import { mondayActions } from './monday-actions.ts';

const TOKEN = 'monday-canary-4f2a9c';

function board(): StandinBoard {
  const labels = { 0: 'Working on it', 1: 'Done', 2: 'In Progress', 7: 'Approved' };
  const item = (id: string, name: string, values: Record<string, string>): StandinItem => ({
    id,
    name,
    groupId: 'topics',
    values,
    createdAt: '2025-01-01T00:00:00Z',
    creatorId: '1',
  });
  return {
    id: '100',
    columns: [
      { id: 'name', title: 'Task', type: 'name' },
      { id: 'status', title: 'Status', type: 'status', labels },
      { id: 'text4', title: 'Owner', type: 'text' },
      { id: 'numbers', title: 'Budget', type: 'numbers' },
      { id: 'date1', title: 'Due', type: 'date' },
      { id: 'mirror', title: 'Customer', type: 'mirror' },
      { id: 'odd', title: '__proto__', type: 'text' },
    ],
    items: [
      item('1', 'Apollo', { status: 'In Progress', text4: 'Ada', numbers: '900', date1: '2025-03-01', mirror: 'Acme' }),
      item('2', 'Borealis', { status: 'Done', text4: 'Bo', numbers: '1000', date1: '2025-02-01', odd: 'x' }),
      item('3', 'Apollo 2', { status: 'In Progress', text4: '' }),
    ],
  };
}

let monday: MondayStandin;
let attempts: Attempts;

async function open(options: { pageItems?: number } = {}): Promise<void> {
  monday = await mondayStandin({ token: TOKEN, boards: [board()], ...options });
  attempts = attemptsOf(mondayActions({ baseUrl: `${monday.url}/v2` }), { monday: TOKEN });
}
async function close(): Promise<void> {
  await attempts.close();
  await monday.close();
}
const items = () => monday.boards[0]!.items;
const rule = (column: string, operator: string, value?: Json) => ({
  boardId: '100',
  filter: { rules: [{ column, operator, ...(value === undefined ? {} : { value }) }] },
});

beforeEach(() => open());
afterEach(close);

describe('monday.get-items', () => {
  const names = async (parameters: Json): Promise<string[]> => {
    const { outputs } = expectSuccess(await attempts.run('monday.get-items', parameters));
    return (outputs as { items: { Name: string }[] }).items.map(({ Name }) => Name);
  };

  it('monday.get-items returns items with their columns by title', async () => {
    const { outputs } = expectSuccess(await attempts.run('monday.get-items', { boardId: 100 }));
    expect((outputs as { items: unknown[] }).items[0]).toEqual({
      id: '1',
      Name: 'Apollo',
      Group: 'Group topics',
      url: 'https://example.monday.com/boards/100/pulses/1',
      Status: 'In Progress',
      Owner: 'Ada',
      Budget: '900',
      Due: '2025-03-01',
      Customer: 'Acme',
      // An own member like any other (S8).
      ['__proto__']: '',
    });
  });

  it.each<[string, string, Json | undefined, string[]]>([
    ['Status', 'eq', 'In Progress', ['Apollo', 'Apollo 2']],
    ['Status', 'neq', 'In Progress', ['Borealis']],
    ['Status', 'in', ['Done', 'In Progress'], ['Apollo', 'Borealis', 'Apollo 2']],
    ['Status', 'notIn', ['Done'], ['Apollo', 'Apollo 2']],
    ['Item ID', 'eq', '2', ['Borealis']],
    ['Item ID', 'eq', 2, ['Borealis']],
    ['Item ID', 'neq', '2', ['Apollo', 'Apollo 2']],
    ['Name', 'eq', 'Apollo', ['Apollo']],
    ['Task', 'contains', 'apollo', ['Apollo', 'Apollo 2']],
    ['owner', 'eq', 'Bo', ['Borealis']],
    ['Owner', 'eq', '', ['Apollo 2']],
    ['Owner', 'empty', undefined, ['Apollo 2']],
    ['Owner', 'notEmpty', undefined, ['Apollo', 'Borealis']],
    ['Budget', 'gt', 900, ['Borealis']],
    ['Budget', 'lte', 900, ['Apollo']],
    ['Due', 'lt', '2025-02-15', ['Borealis']],
    ['Due', 'gte', '2025-02-01', ['Apollo', 'Borealis']],
    ['Customer', 'eq', 'Acme', ['Apollo']],
  ])('monday.get-items filters by the rule %s %s %j', async (column, operator, value, expected) => {
    expect(await names(rule(column, operator, value))).toEqual(expected);
  });

  it('monday.get-items returns only items that match every rule', async () => {
    const rules = [
      { column: 'Status', operator: 'eq', value: 'In Progress' },
      { column: 'Owner', operator: 'notEmpty' },
    ];
    expect(await names({ boardId: '100', filter: { rules } })).toEqual(['Apollo']);
  });

  it('monday.get-items lets Monday filter where it can', async () => {
    await names(rule('Status', 'eq', 'Done'));
    const { variables } = JSON.parse(monday.requests.at(-1)!.body);
    expect(variables.filter).toEqual({ rules: [{ column_id: 'status', operator: 'any_of', compare_value: [1] }] });
    await names(rule('Item ID', 'eq', '3'));
    expect(JSON.parse(monday.requests.at(-1)!.body).variables.filter).toEqual({ ids: ['3'] });
  });

  it('monday.get-items reads page after page, up to the limit', async () => {
    await close();
    await open({ pageItems: 2 });
    expect(await names({ boardId: '100' })).toEqual(['Apollo', 'Borealis', 'Apollo 2']);
    expect(monday.requests).toHaveLength(2);
    expect(await names({ boardId: '100', limit: 1 })).toEqual(['Apollo']);
    expect(monday.requests).toHaveLength(3);
  });

  it.each([
    [{ boardId: '404' }, 'RESOURCE_NOT_FOUND', 'Monday has no board 404'],
    [{ boardId: 'abc' }, 'PARAMETERS_INVALID', 'expected a numeric id'],
    [
      rule('Colour', 'eq', 'x'),
      'PARAMETERS_INVALID',
      'parameters.filter.rules[0].column: the board has no column "Colour"; it has "Task"',
    ],
    [rule('Status', 'eq', 'Doen'), 'PARAMETERS_INVALID', 'has no label "Doen"; it has "Working on it", "Done"'],
    [rule('Owner', 'eq'), 'PARAMETERS_INVALID', '"eq" needs a value'],
    [rule('Owner', 'eq', ['a']), 'PARAMETERS_INVALID', 'takes one value; use "in"'],
  ])('%j is final and says why', async (parameters, code, message) => {
    const { error, retryable } = expectFailure(await attempts.run('monday.get-items', parameters));
    expect(retryable).toBe(false);
    expect(error).toEqual({ code, message: expect.stringContaining(message) });
  });
});

describe('monday.get-item', () => {
  it('monday.get-item reads one item', async () => {
    const { outputs } = expectSuccess(await attempts.run('monday.get-item', { itemId: '2' }));
    expect(outputs).toMatchObject({ item: { id: '2', Name: 'Borealis', Status: 'Done' } });
  });

  it('monday.get-item for an unknown item is a final error', async () => {
    const { error } = expectFailure(await attempts.run('monday.get-item', { itemId: '9' }));
    expect(error).toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
  });
});

describe('monday.create-item', () => {
  const cosmos = { boardId: '100', name: 'Cosmos', columns: { Status: 'Approved', Due: '2025-06-01', Budget: 5 } };
  const create = (context = {}, parameters: Json = cosmos) => attempts.run('monday.create-item', parameters, context);

  it('monday.create-item sets columns by title, and links the item', async () => {
    const { outputs, resourceLinks } = expectSuccess(await create());
    const url = 'https://example.monday.com/boards/100/pulses/100004';
    expect(outputs).toEqual({ itemId: '100004', url });
    expect(resourceLinks).toEqual([{ system: 'monday', resourceType: 'item', resourceId: '100004', url }]);
    expect(items()[3]).toMatchObject({
      name: 'Cosmos',
      values: { status: 'Approved', date1: '2025-06-01', numbers: '5' },
    });
  });

  it('a retry after a lost response does not create twice', async () => {
    monday.inject({ kind: 'loseAnswer', matching: 'create_item' });
    expect(expectFailure(await create())).toMatchObject({ retryable: true, error: { code: 'NETWORK_ERROR' } });
    expect(expectSuccess(await create({ attempt: 2 })).outputs).toMatchObject({ itemId: '100004' });
    expect(items()).toHaveLength(4);
  });

  it.each<[string, Partial<StandinItem>, { executionId: string; nodeId: string } | null]>([
    ['of another execution', {}, { executionId: 'other', nodeId: 'node-1' }],
    ['of another node', {}, { executionId: '0190a5c0-0000-7000-8000-000000000001', nodeId: 'node-2' }],
    ['of somebody else', { creatorId: '1' }, null],
    ['of last week', { createdAt: new Date(Date.now() - 7 * 86_400_000).toISOString() }, null],
    ['with a longer name', { name: 'Cosmos 2' }, null],
  ])('an item %s is not mistaken for one of this node', async (_whose, changes, holder) => {
    expectSuccess(await create());
    Object.assign(items()[3]!, changes);
    const findResource = async () => (holder === null ? null : { ...holder, url: null });
    expectSuccess(await create({ attempt: 2, findResource }));
    expect(items()).toHaveLength(5);
  });

  it('a label that the board does not have is final, unless it may be created', async () => {
    const odd = { boardId: '100', name: 'Odd', columns: { Status: 'Odd' } };
    expect(expectFailure(await create({}, odd))).toMatchObject({
      retryable: false,
      error: { code: 'REQUEST_REFUSED' },
    });
    expectSuccess(await create({}, { ...odd, createLabelsIfMissing: true }));
    expect(items()[3]?.values.status).toBe('Odd');
  });

  it('monday.create-item acts as the user of the token', async () => {
    expectSuccess(await create());
    expect(items()[3]?.creatorId).toBe(MONDAY_USER);
  });
});

describe('monday.update-item', () => {
  it('monday.update-item changes columns and the name', async () => {
    const columns = { Name: 'Apollo XI', Status: 'Done', Owner: null };
    const { outputs } = expectSuccess(await attempts.run('monday.update-item', { boardId: '100', itemId: 1, columns }));
    expect(outputs).toMatchObject({ itemId: '1' });
    expect(items()[0]).toMatchObject({ name: 'Apollo XI', values: { status: 'Done', text4: '' } });
  });

  it('monday.update-item for an unknown item is a final error', async () => {
    const missing = { boardId: '100', itemId: '9', columns: { Owner: 'x' } };
    const { error } = expectFailure(await attempts.run('monday.update-item', missing));
    expect(error).toEqual({
      code: 'RESOURCE_NOT_FOUND',
      message: 'Monday did not find it: Item not found (InvalidItemIdException)',
    });
  });
});

describe('errors of Monday', () => {
  const failure = async (context = {}) =>
    expectFailure(await attempts.run('monday.get-item', { itemId: '1' }, context));
  const problem = (code: string, extensions = {}) => ({
    status: 200,
    body: { errors: [{ message: 'No', extensions: { code, ...extensions } }] },
  });

  it.each([
    ['an exhausted budget', problem('ComplexityException', { retry_in_seconds: 12 }), 'RATE_LIMITED', 12_000],
    [
      'too many at once',
      problem('FIELD_LIMIT_EXCEEDED', { error_data: { retry_in_seconds: 15 } }),
      'RATE_LIMITED',
      15_000,
    ],
    [
      'a 429',
      { status: 429, headers: { 'retry-after': '9' }, body: { errors: [{ message: 'Slow' }] } },
      'RATE_LIMITED',
      9000,
    ],
    ['a 429 of a proxy', { status: 429, headers: { 'retry-after': '3' }, body: 'slow' }, 'RATE_LIMITED', 3000],
    ['its own breakdown', problem('INTERNAL_SERVER_ERROR', { status_code: 500 }), 'REMOTE_FAILED', undefined],
    ['a 502', { status: 502, body: 'bad gateway' }, 'REMOTE_FAILED', undefined],
    ['a page instead of JSON', { status: 200, body: '<html>' }, 'RESPONSE_INVALID', undefined],
    [
      'half of an answer',
      { status: 200, headers: { 'content-type': 'application/json' }, body: '{"data":' },
      'RESPONSE_INVALID',
      undefined,
    ],
  ])('%s is retried', async (_what, answer, code, retryAfterMs) => {
    monday.inject({ kind: 'answer', answer });
    const failed = await failure();
    expect(failed).toMatchObject({ retryable: true, error: { code } });
    expect(failed.retryAfterMs).toBe(retryAfterMs);
    expect(monday.requests).toHaveLength(1);
  });

  it.each([
    ['UserUnauthorizedException', 'CREDENTIAL_REFUSED'],
    ['ResourceNotFoundException', 'RESOURCE_NOT_FOUND'],
    ['InvalidArgumentException', 'REQUEST_REFUSED'],
  ])('%s is final', async (error, code) => {
    monday.inject({ kind: 'answer', answer: problem(error) });
    expect(await failure()).toMatchObject({ retryable: false, error: { code } });
  });

  it('a wrong Monday token is a final error', async () => {
    const { error } = await failure({ credentials: { token: () => 'wrong' } });
    expect(error).toEqual({ code: 'CREDENTIAL_REFUSED', message: 'Monday refused the credential: Not Authenticated' });
  });

  it('a missing Monday token is reported with the variable to set', async () => {
    const { error } = await failure({ credentials: { token: () => undefined } });
    expect(error).toMatchObject({
      code: 'CREDENTIAL_MISSING',
      message: expect.stringContaining('CONNECTOR_MONDAY_TOKEN'),
    });
  });

  it('requests to Monday name the user they act for', async () => {
    expectSuccess(await attempts.run('monday.get-item', { itemId: '1' }));
    expect(monday.requests[0]?.headers).toMatchObject({
      authorization: TOKEN,
      'x-acting-user-id': 'U1',
      'x-acting-user-email': 'ada@example.com',
      'x-acting-user-name': 'Ada',
      'x-correlation-id': 'correlation-1',
    });
  });

  it('a request to Monday that hangs ends with the attempt', async () => {
    monday.inject({ kind: 'hang' });
    const controller = new AbortController();
    const arrived = monday.nextRequest();
    const running = failure({ signal: controller.signal });
    await arrived;
    controller.abort(new Error('cancelled'));
    expect(await running).toMatchObject({ aborted: true });
    await monday.abandoned;
  });

  it('a token repeated by the server appears in no error or log (S6)', async () => {
    const answer = { status: 200, body: { errors: [{ message: `Bad ${TOKEN}`, extensions: { code: 'X' } }] } };
    monday.inject({ kind: 'answer', answer });
    const failed = await failure();
    expect(failed.error.message).toContain('Bad [redacted]');
    expect(JSON.stringify(failed)).not.toContain(TOKEN);
  });
});

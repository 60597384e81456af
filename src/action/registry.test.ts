import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type ActionSpec, defineAction } from './action.ts';
import { coreActions, coreConnector } from './core/core-actions.ts';
import { httpActions, httpConnector } from './http/http-actions.ts';
import { createRegistry } from './registry.ts';

function action(overrides: Partial<ActionSpec<z.ZodType, z.ZodType>> = {}) {
  return defineAction<z.ZodType, z.ZodType>({
    type: 'monday.get-items',
    version: '1.2.0',
    connector: 'monday',
    category: 'Data',
    params: z.object({ boardId: z.string(), limit: z.int().default(50) }),
    outputs: z.object({ items: z.array(z.unknown()) }),
    run: () => ({ outputs: { items: [] } }),
    ...overrides,
  });
}

describe('the registry', () => {
  it('the registry finds, lists and names its actions', () => {
    const first = action();
    const second = action({ type: 'monday.get-items-v2', version: '2.0.0' });
    const registry = createRegistry([first, second]);
    expect(registry.get('monday.get-items')).toBe(first);
    expect(registry.get('constructor')).toBeUndefined();
    expect(registry.list()).toEqual([first, second]);
    expect([...registry.types]).toEqual(['monday.get-items', 'monday.get-items-v2']);
  });

  it.each([
    ['a template with two dots', { type: 'core.template.render', connector: 'core' }],
    ['a step type of a plan', { type: 'DBT_RUN', connector: 'dbt', version: '2.1.0' }],
    ['a version before the first', { version: '0.9.0' }],
    ['a name that only looks like a version', { type: 'monday.get-v', version: '1.0.0' }],
  ])('the registry accepts %s', (_name, overrides) => {
    expect(createRegistry([action(overrides)]).types.size).toBe(1);
  });

  it.each([
    ['a version that is not semantic', { version: '1.0' }, 'must be MAJOR.MINOR.PATCH'],
    ['a version with leading zeroes', { version: '1.02.0' }, 'must be MAJOR.MINOR.PATCH'],
    ['a major version 2 under the old id', { version: '2.0.0' }, 'needs a type of its own: "monday.get-items-v2"'],
    [
      'a suffix of another major version',
      { type: 'monday.get-items-v3', version: '2.0.0' },
      'the suffix -v3 does not belong',
    ],
    ['a suffix -v1', { type: 'monday.get-items-v1' }, 'the suffix -v1 does not belong'],
    ['the prefix of another connector', { type: 'slack.get-items' }, 'the type must be "monday.<action>"'],
    ['upper case', { type: 'monday.getItems' }, 'the type must be "monday.<action>"'],
    ['a connector that is no word', { connector: 'Monday!', type: 'Monday!.x' }, 'the connector "Monday!" must be'],
  ])('the registry refuses %s', (_name, overrides, message) => {
    expect(() => createRegistry([action(overrides)])).toThrow(message);
  });

  it('the registry reports all problems of all actions at once, with duplicates', () => {
    const broken = [action(), action(), action({ type: 'monday.a', version: 'x' }), action({ type: 'b' })];
    expect(() => createRegistry(broken)).toThrow(
      /^The actions cannot be registered:\n- monday\.a: .*\n- b: .*\n- monday\.get-items: defined 2 times$/,
    );
  });
});

describe('the catalog', () => {
  it('the catalog describes parameters as written and outputs as read', () => {
    const [row] = createRegistry([action({ tags: ['board'], deprecationNotice: 'Use -v2' })]).catalog().actions;
    expect(row).toMatchObject({
      id: 'monday.get-items',
      displayName: 'monday.get-items',
      description: '',
      category: 'Data',
      connectorId: 'monday',
      version: '1.2.0',
      deprecationNotice: 'Use -v2',
      tags: ['board'],
    });
    expect(JSON.parse(row?.parameterSchema ?? '')).toMatchObject({
      type: 'object',
      required: ['boardId'],
      properties: { limit: { default: 50 } },
    });
    expect(JSON.parse(row?.outputSchema ?? '')).toMatchObject({ required: ['items'] });
  });

  it('the catalog has one row for each connector in use, described or not', () => {
    const described = { id: 'slack', displayName: 'Slack', description: 'Chat.', version: '3.0.0', authType: 'Bearer' };
    const actions = [
      action(),
      action({ type: 'slack.post', connector: 'slack' }),
      action({ type: 'my-crm.x', connector: 'my-crm' }),
    ];
    expect(createRegistry(actions, [{ ...described, authType: 'Bearer' }]).catalog().connectors).toEqual([
      expect.objectContaining({
        id: 'monday',
        displayName: 'Monday',
        requiresAuth: false,
        authType: null,
        capabilities: ['monday.get-items'],
      }),
      {
        ...described,
        requiresAuth: true,
        capabilities: ['slack.post'],
        iconUrl: expect.stringMatching(/^data:image\/svg\+xml,.*%3ES%3C/),
        documentationUrl: null,
        configSchema: null,
      },
      expect.objectContaining({ id: 'my-crm', displayName: 'My Crm' }),
    ]);
  });

  it('a schema that JSON Schema cannot describe is reported with its action', () => {
    const recursive: z.ZodType = z.lazy(() => {
      throw new Error('broken');
    });
    expect(() => createRegistry([action({ params: recursive })]).catalog()).toThrow(
      'monday.get-items: the schema of its params cannot be written as JSON Schema',
    );
  });
});

describe('built-in actions', () => {
  it('all built-in actions are valid, with schemas and descriptions in the catalog', () => {
    const { actions, connectors } = createRegistry(
      [...coreActions(), ...httpActions],
      [coreConnector, httpConnector],
    ).catalog();
    expect(actions.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        'core.echo',
        'core.fail',
        'core.sometimes-fails',
        'core.transform',
        'core.delay',
        'http.request',
        'http.step',
      ]),
    );
    for (const row of actions) {
      expect(row.description).not.toBe('');
      expect(JSON.parse(row.parameterSchema)).toHaveProperty('type', 'object');
      expect(JSON.parse(row.outputSchema)).toHaveProperty('type', 'object');
    }
    expect(connectors.map(({ id }) => id)).toEqual(['core', 'http']);
  });
});

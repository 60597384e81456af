import { describe, expect, it } from 'vitest';
import { resolveConfig, terminalPreferences } from './config.ts';

const problemsOf = (...given: Parameters<typeof resolveConfig>): string[] => {
  try {
    resolveConfig(...given);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').slice(1);
  }
};

describe('an option', () => {
  it('has a default', () => {
    const config = resolveConfig({}, {});
    expect(config.engine).toMatchObject({ leaseMs: 10_000, maxParallelActions: 200, allowRecursion: false });
    expect(config.database).toMatchObject({ schema: 'public', dataDir: '.pawl' });
    expect(config.database.url).toBeUndefined();
  });

  it('comes from the environment by its path, and from the caller before that', () => {
    const environment = {
      PAWL_ENGINE_LEASE_MS: '3000',
      PAWL_ENGINE_ALLOW_RECURSION: '1',
      PAWL_ENGINE_MAX_PARALLEL_PER_ACTION: '{"slack.post-message":5}',
      PAWL_HTTP_ALLOW: '10.0.0.0/8, db.internal',
      PAWL_SERVER_PORT: '0',
    };
    const config = resolveConfig({ engine: { leaseMs: 4_000, pollMs: undefined } }, environment);
    expect(config.engine).toMatchObject({
      leaseMs: 4_000,
      pollMs: 500,
      allowRecursion: true,
      maxParallelPerAction: { 'slack.post-message': 5 },
    });
    expect(config.http.allow).toEqual(['10.0.0.0/8', 'db.internal']);
    expect(config.server.port).toBe(0);
  });

  it('DATABASE_URL is what every platform calls the database; our own name comes first', () => {
    const DATABASE_URL = 'postgres://platform';
    expect(resolveConfig({}, { DATABASE_URL }).database.url).toBe(DATABASE_URL);
    expect(resolveConfig({}, { DATABASE_URL, PAWL_DATABASE_URL: 'postgres://ours' }).database.url).toBe(
      'postgres://ours',
    );
  });

  it('that is not valid is named with its variable, what was expected and what came, all at once', () => {
    const problems = problemsOf(
      { engine: { leaseMs: 10 } },
      { PAWL_SERVER_PORT: 'many', PAWL_HTTP_ALLOW_LOOPBACK: 'maybe' },
    );
    expect(problems).toHaveLength(3);
    expect(problems.find((problem) => problem.includes('engine.leaseMs'))).toMatch(
      /PAWL_ENGINE_LEASE_MS.*500.*it is 10$/,
    );
    expect(problems.find((problem) => problem.includes('server.port'))).toContain('"many"');
    expect(problems.find((problem) => problem.includes('http.allowLoopback'))).toContain('"maybe"');
  });

  it.each([
    ['a limit that is not JSON', { PAWL_ENGINE_MAX_PARALLEL_PER_ACTION: 'five' }],
    ['a fraction', { PAWL_ENGINE_POLL_MS: '20.5' }],
    ['a port that cannot be', { PAWL_SERVER_PORT: '70000' }],
    ['no connections', { PAWL_DATABASE_READ_CONNECTIONS: '0' }],
  ])('refuses %s', (_name, environment) => {
    expect(problemsOf({}, environment)).toHaveLength(1);
  });
});

describe('an option that does not exist', () => {
  it('is refused: a slip of the pen must not mean the default', () => {
    const misspelt = { engine: { leaseMS: 700 } } as Parameters<typeof resolveConfig>[0];
    expect(problemsOf(misspelt, {})).toEqual([expect.stringContaining('engine.leaseMS')]);
  });
});

describe('tokens of connectors', () => {
  it('are the only other variables that are read', () => {
    const environment = { CONNECTOR_SLACK_TOKEN: 'x', CONNECTOR_TOKEN: 'no', HOME: '/home', OTHER_SECRET: 's' };
    expect(resolveConfig({}, environment).connectorTokens).toEqual({ CONNECTOR_SLACK_TOKEN: 'x' });
  });
});

describe('the terminal', () => {
  it('has colours if it is one and nobody objects', () => {
    expect(terminalPreferences({ isTTY: true }, {})).toEqual({ colour: true, debug: false });
    expect(terminalPreferences({ isTTY: true }, { NO_COLOR: '1' }).colour).toBe(false);
    expect(terminalPreferences({}, { PAWL_DEBUG: '1' })).toEqual({ colour: false, debug: true });
  });
});

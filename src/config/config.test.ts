import { describe, expect, it } from 'vitest';
import { mistypedVariables, optionReference, resolveConfig, terminalPreferences } from './config.ts';
import { SEED_OPTIONS } from './seed-option.ts';

const problemsOf = (...given: Parameters<typeof resolveConfig>): string[] => {
  try {
    resolveConfig(...given);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').slice(1);
  }
};

describe('an option', () => {
  it('an option has a default', () => {
    const config = resolveConfig({}, {});
    expect(config.engine).toMatchObject({ leaseMs: 10_000, maxParallelActions: 200, allowRecursion: false });
    expect(config.database).toMatchObject({ schema: 'public', dataDir: '.pawl' });
    expect(config.database.url).toBeUndefined();
  });

  it('an option comes from the environment by its path, and the caller takes precedence', () => {
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

  it('DATABASE_URL sets the database, and PAWL_DATABASE_URL takes precedence', () => {
    const DATABASE_URL = 'postgres://platform';
    expect(resolveConfig({}, { DATABASE_URL }).database.url).toBe(DATABASE_URL);
    expect(resolveConfig({}, { DATABASE_URL, PAWL_DATABASE_URL: 'postgres://ours' }).database.url).toBe(
      'postgres://ours',
    );
  });

  it('the environment takes precedence over the file, and the program over both', () => {
    const file = { name: 'pawl.config.yaml', options: { engine: { leaseMs: 3_000, pollMs: 600, drainMs: 5 } } };
    const environment = { PAWL_ENGINE_POLL_MS: '700', PAWL_ENGINE_DRAIN_MS: '6', PAWL_ENGINE_NAME: '' };
    expect(resolveConfig({ engine: { drainMs: 7 } }, environment, file).engine).toMatchObject({
      leaseMs: 3_000,
      pollMs: 700,
      drainMs: 7,
      name: 'runner',
    });
  });

  it('all invalid options are reported at once, with the expected value, the given value and the source', () => {
    const file = { name: 'pawl.config.yaml', options: { rateLimit: { perTokenBurst: [] }, templates: 5, servre: {} } };
    const environment = { PAWL_SERVER_PORT: 'many', PAWL_HTTP_ALLOW_LOOPBACK: 'maybe', PAWL_SERVER_LOG_LEVEL: 'loud' };
    expect(problemsOf({ engine: { leaseMs: 10 } }, environment, file).toSorted()).toEqual([
      '- engine.leaseMs: expected at least 500, got 10 (from the flags or options of the program)',
      '- http.allowLoopback: expected true or false, got "maybe" (from PAWL_HTTP_ALLOW_LOOPBACK)',
      '- rateLimit.perTokenBurst: expected a number, got [] (from pawl.config.yaml)',
      '- server.logLevel: expected one of trace, debug, info, warn, error, silent, got "loud" (from PAWL_SERVER_LOG_LEVEL)',
      '- server.port: expected a number, got "many" (from PAWL_SERVER_PORT)',
      '- servre: there is no such option; did you mean server? (from pawl.config.yaml)',
      '- templates: expected options, as name and value, got 5 (from pawl.config.yaml)',
    ]);
  });

  it('a lease margin that leaves no time for actions is refused', () => {
    expect(resolveConfig({ engine: { leaseMs: 500 } }, {}).engine.leaseMarginMs).toBeUndefined();
    expect(problemsOf({ engine: { leaseMs: 4_000, leaseMarginMs: 2_000 } }, {})).toEqual([]);
    expect(problemsOf({ engine: { leaseMs: 1_500 } }, { PAWL_ENGINE_LEASE_MARGIN_MS: '2000' })).toEqual([
      '- engine.leaseMarginMs: expected at most 750, half of engine.leaseMs (no action would start), got "2000" (from PAWL_ENGINE_LEASE_MARGIN_MS)',
    ]);
  });

  it('the value of a secret option is never shown', () => {
    const [problem] = problemsOf({}, { PAWL_AUTH_SECRET: 'too-short-canary' });
    expect(problem).toBe('- auth.secret: expected at least 32 characters, got something else (from PAWL_AUTH_SECRET)');
  });

  it.each([
    [
      'a consumer of a tenant that cannot be',
      '[{"tenantId":"a b","code":"kyc","kind":"webhook","secret":"whsec_canary"}]',
    ],
    ['consumers that are not JSON', '[{"code":"kyc","secret":"whsec_canary"'],
  ])('the message for %s shows no secret', (_name, consumers) => {
    const problems = problemsOf({}, { PAWL_DELIVERY_CONSUMERS: consumers });
    expect(problems).toEqual([expect.stringContaining('(from PAWL_DELIVERY_CONSUMERS)')]);
    expect(problems[0]).not.toContain('canary');
  });

  it.each([
    ['a limit that is not JSON', { PAWL_ENGINE_MAX_PARALLEL_PER_ACTION: 'five' }],
    ['a fraction', { PAWL_ENGINE_POLL_MS: '20.5' }],
    ['a port that cannot be', { PAWL_SERVER_PORT: '70000' }],
    ['no connections', { PAWL_DATABASE_READ_CONNECTIONS: '0' }],
  ])('an option with %s is refused', (_name, environment) => {
    expect(problemsOf({}, environment)).toHaveLength(1);
  });
});

describe('an unknown option', () => {
  it('an unknown option is refused, so that a typo does not mean the default', () => {
    const misspelt = { engine: { leaseMS: 700 } } as Parameters<typeof resolveConfig>[0];
    expect(problemsOf(misspelt, {})).toEqual([
      expect.stringContaining('engine.leaseMS: there is no such option; did you mean engine.leaseMs?'),
    ]);
  });

  it('an unknown variable of the environment is found, with a suggestion', () => {
    const environment = {
      PAWL_SERVER_PROT: '1',
      PAWL_NONSENSE: '1',
      PAWL_URL: 'fine',
      PAWL_SERVICE_HOST: 'of Kubernetes',
      PAWL_PORT_7295_TCP: 'of Kubernetes',
      PAWL_SERVER_PORT: '1',
    };
    expect(mistypedVariables(environment)).toEqual([
      { variable: 'PAWL_SERVER_PROT', didYouMean: 'PAWL_SERVER_PORT' },
      { variable: 'PAWL_NONSENSE' },
    ]);
  });
});

describe('tokens of connectors', () => {
  it('only variables of connector tokens are read besides the options', () => {
    const environment = { CONNECTOR_SLACK_TOKEN: 'x', CONNECTOR_TOKEN: 'no', HOME: '/home', OTHER_SECRET: 's' };
    expect(resolveConfig({}, environment).connectorTokens).toEqual({ CONNECTOR_SLACK_TOKEN: 'x' });
  });
});

describe('the terminal', () => {
  it('a terminal has colours unless NO_COLOR is set', () => {
    expect(terminalPreferences({ isTTY: true }, {})).toEqual({ colour: true, redraw: true, debug: false });
    expect(terminalPreferences({ isTTY: true }, { NO_COLOR: '1' }).colour).toBe(false);
    expect(terminalPreferences({}, { PAWL_DEBUG: '1' })).toEqual({ colour: false, redraw: false, debug: true });
  });

  it('a dumb terminal gets plain text', () => {
    expect(terminalPreferences({ isTTY: true }, { TERM: 'dumb' })).toEqual({
      colour: false,
      redraw: false,
      debug: false,
    });
  });
});

describe('the option reference', () => {
  it('every option has a description', () => {
    for (const { section, option, description } of optionReference())
      expect(description, `${section}.${option}`).not.toBe('');
  });

  it('every option of the specification has an option here, or a reason', () => {
    const known = new Set(optionReference().map(({ section, option }) => `${section}.${option}`));
    for (const { name, here } of SEED_OPTIONS)
      expect(known.has(here) || here.includes(' '), `${name}: ${here}`).toBe(true);
  });
});

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'pawl-validate-'));
afterAll(() => rmSync(folder, { recursive: true }));

function pawl(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'bin/pawl'), ...args], {
    encoding: 'utf8',
    // The sources are compiled once for all these processes.
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache') },
  });
  return { status, stdout, stderr };
}

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const json = (path: string) => {
  const { status, stdout, stderr } = pawl('validate', path, '--json');
  expect(stderr).toBe('');
  return { status, ...(JSON.parse(stdout) as { ok: boolean; format: string | null; problems: object[] }) };
};

const PIPELINE = `{
  "name": "orders",
  "tasks": {
    "charge": { "url": "https://example.com/charge" },
    "ship": {
      "needs": ["chrage"],
      "ur": "https://example.com/ship"
    }
  }
}
`;

describe('pawl validate', () => {
  it('pawl validate accepts a valid file', () => {
    const path = join(ROOT, 'examples/pipeline/order-processing.json');
    expect(pawl('validate', path)).toEqual({
      status: 0,
      stdout: `✓ ${path}: valid pipeline \`order-processing\`, 4 nodes\n`,
      stderr: '',
    });
    expect(json(path)).toEqual({ status: 0, ok: true, format: 'pipeline', problems: [] });
  });

  it('pawl validate warns of parameters and outputs that a built-in action does not have', () => {
    const path = file(
      'slip.json',
      JSON.stringify({
        ...{ id: 'slip', displayName: 'Slip', startNode: 'fetch' },
        nodes: [
          {
            id: 'fetch',
            actionType: 'http.request',
            parameters: { ulr: 'https://x.example' },
            edges: [{ targetNode: 'say' }],
          },
          { id: 'say', actionType: 'core.echo', parameters: { text: '{{ context.data.fetch.bdoy }}' } },
        ],
      }),
    );
    const { status, problems } = json(path);
    expect(status).toBe(0);
    expect(problems).toMatchObject([
      { code: 'PARAMETERS_INVALID', path: '/nodes/0/parameters', message: '`url` is missing' },
      { code: 'PARAMETERS_INVALID', path: '/nodes/0/parameters/ulr', suggestion: 'did you mean `url`?' },
      { code: 'UNKNOWN_OUTPUT', path: '/nodes/1/parameters/text', suggestion: 'write `context.data.fetch.body`' },
    ]);
  });

  it('pawl validate shows each problem at its line, in the order of the file', () => {
    const path = file('orders.json', PIPELINE);
    expect(pawl('validate', path)).toEqual({
      status: 1,
      stderr: '',
      stdout: `error[MISSING_STEP_TYPE]: a task needs something to do
 --> ${path}:5:5
  |
5 |     "ship": {
  |     ^^^^^^
  = at /tasks/ship
  = help: add one of \`url\`, \`sleep\`, \`wait_for_webhook\`, \`wait_for\` and \`end\`

error[UNKNOWN_NODE]: unknown task \`chrage\`
 --> ${path}:6:17
  |
6 |       "needs": ["chrage"],
  |                 ^^^^^^^^
  = at /tasks/ship/needs/0
  = help: did you mean \`charge\`?

error[UNKNOWN_KEY]: \`ur\` is not a field here
 --> ${path}:7:7
  |
7 |       "ur": "https://example.com/ship"
  |       ^^^^
  = at /tasks/ship/ur
  = help: did you mean \`url\`?

✗ ${path}: 3 problems
`,
    });
  });

  it('pawl validate --json gives programs the same information', () => {
    expect(json(file('orders.json', PIPELINE))).toEqual({
      status: 1,
      ok: false,
      format: 'pipeline',
      problems: [
        {
          code: 'MISSING_STEP_TYPE',
          path: '/tasks/ship',
          message: 'a task needs something to do',
          suggestion: 'add one of `url`, `sleep`, `wait_for_webhook`, `wait_for` and `end`',
          line: 5,
          column: 5,
        },
        {
          code: 'UNKNOWN_NODE',
          path: '/tasks/ship/needs/0',
          message: 'unknown task `chrage`',
          suggestion: 'did you mean `charge`?',
          line: 6,
          column: 17,
        },
        {
          code: 'UNKNOWN_KEY',
          path: '/tasks/ship/ur',
          message: '`ur` is not a field here',
          suggestion: 'did you mean `url`?',
          line: 7,
          column: 7,
        },
      ],
    });
  });

  it('pawl validate accepts a file with warnings, and shows them', () => {
    const tasks = '"a": { "sleep": 1 }, "b": { "sleep": 1, "needs": ["a", "a"] }';
    const path = file('warnings.json', `{ "name": "x", "tasks": { ${tasks} } }`);
    const { status, stdout } = pawl('validate', path);
    expect(status).toBe(0);
    expect(stdout).toContain('warning[DUPLICATE_DEPENDENCY]: `a` is listed already');
    expect(stdout).toContain(`✓ ${path}: valid pipeline \`x\`, 2 nodes, 1 warning\n`);
    expect(json(path)).toMatchObject({ status: 0, ok: true, problems: [{ severity: 'warning', line: 1, column: 82 }] });
  });

  it('pawl validate reports a missing comma', () => {
    const { problems } = json(file('comma.json', '{"name":"x"\n"tasks":{}}')) as unknown as { problems: unknown[] };
    expect(problems).toMatchObject([{ line: 2, column: 1, suggestion: 'put a comma after the value before this one' }]);
  });

  it.each([
    ['htpp.request', 1, { suggestion: 'did you mean `http.request`?' }],
    ['http.requst', 1, { suggestion: 'did you mean `http.request`?' }],
    ['billing.charge', 0, { severity: 'warning', code: 'UNKNOWN_ACTION' }],
  ])('pawl validate reports what it knows of the action %s', (actionType, status, problem) => {
    const definition = { id: 'x', displayName: 'X', startNode: 'a', nodes: [{ id: 'a', actionType }] };
    expect(json(file('action.json', JSON.stringify(definition)))).toMatchObject({ status, problems: [problem] });
  });

  it('pawl validate prints no colours when the output is not a terminal', () => {
    expect(pawl('validate', file('orders.json', PIPELINE)).stdout).not.toContain('\u001b');
  });
});

describe('files that are not a definition', () => {
  it.each([
    ['{"name": }', 'NOT_JSON', 1, 10],
    ['{\n  "a": 1,\n  "a": 2\n}', 'DUPLICATE_KEY', 3, 3],
    ['{"nodes":[{"id":"a","parameters":{"__proto__":1}}]}', 'FORBIDDEN_KEY', 1, 35],
    [`${'['.repeat(10_000)}${']'.repeat(10_000)}`, 'TOO_DEEP', 1, 68],
    ['[]', 'UNKNOWN_FORMAT', 1, 1],
    ['{"name":"x","tasks":{"a":{"sleep":1,\n"if":"trigger.body.\\u0061 === 1 &&& 2"}}}', 'BAD_CONDITION', 2, 35],
  ])('a file with a bad definition is refused at its place: %.40s', (text, code, line, column) => {
    expect(json(file('bad.json', text))).toMatchObject({ status: 1, ok: false, problems: [{ code, line, column }] });
    expect(pawl('validate', file('bad.json', text)).stdout).toContain(`error[${code}]`);
  });

  it('a file that is too large is refused', () => {
    const path = file('large.json', `"${'x'.repeat(10_000_000)}"`);
    expect(json(path)).toEqual({
      status: 1,
      ok: false,
      format: null,
      problems: [{ code: 'FILE_TOO_LARGE', path: '', message: 'the file has 10000002 bytes; the limit is 10000000' }],
    });
    expect(pawl('validate', path).stdout).toContain('error[FILE_TOO_LARGE]');
  });

  it('a file that is not text is refused', () => {
    expect(json(file('binary.json', Buffer.from([0x7b, 0xff, 0xfe])))).toMatchObject({
      status: 1,
      problems: [{ code: 'NOT_JSON', message: 'the file is not UTF-8 text' }],
    });
  });

  it.each(['name: orders\ntasks:\n  a:\n', '---\n# orders\nname: x\n', '\n- name: x\n'])(
    'a YAML file is refused: %j',
    (text) => {
      expect(json(file('orders.yaml', text))).toMatchObject({
        status: 1,
        problems: [{ code: 'NOT_JSON', suggestion: 'this looks like YAML; definitions are JSON, so convert it first' }],
      });
    },
  );

  it('a byte order mark is accepted', () => {
    const text = readFileSync(join(ROOT, 'examples/graph/linear.json'), 'utf8');
    expect(json(file('bom.json', `\ufeff${text}`))).toMatchObject({ status: 0, ok: true, format: 'graph' });
  });
});

describe('wrong usage', () => {
  it('a file that cannot be read is reported', () => {
    const missing = join(folder, 'missing.json');
    expect(pawl('validate', missing)).toEqual({
      status: 2,
      stdout: '',
      stderr: `pawl: cannot read ${missing}: there is no such file\n`,
    });
    expect(pawl('validate', join(missing, 'x'), '--json')).toMatchObject({ status: 2, stdout: '' });
    expect(pawl('publish', folder)).toMatchObject({ status: 2, stderr: expect.stringContaining('it is a directory') });
  });

  it.skipIf(process.getuid?.() === 0)('a file without read permission is reported', () => {
    const path = file('secret.json', '{}');
    chmodSync(path, 0);
    expect(pawl('validate', path)).toMatchObject({ status: 2, stderr: expect.stringContaining('permission denied') });
  });

  it('unknown commands and flags are reported', () => {
    const unknown = pawl('valdate', 'x.json');
    expect(unknown.status).toBe(2);
    expect(unknown.stderr).toContain("unknown command 'valdate'");
    expect(unknown.stderr).toContain('Did you mean validate?');
    expect(unknown.stderr).toContain('Run `pawl --help`');
    expect(pawl('validate', 'x.json', '--jsn')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--json?'),
    });
    expect(pawl('validate')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("missing required argument 'file'"),
    });
    expect(pawl('validate', 'a', 'b').status).toBe(2);
    expect(pawl()).toMatchObject({ status: 2, stderr: expect.stringContaining('Usage: pawl') });
  });

  it('help and version are not errors', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(pawl('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
    expect(pawl('--help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: pawl [\s\S]*validate/) });
    expect(pawl('validate', '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--json') });
  });
});

describe('pawl validate for a lifecycle', () => {
  it('pawl validate accepts lifecycles, their policies, and both in one file', () => {
    const read = (name: string) => JSON.parse(readFileSync(join(ROOT, 'examples/lifecycle', name), 'utf8')) as object;
    const loan = join(ROOT, 'examples/lifecycle/loan.json');
    expect(pawl('validate', loan).stdout).toBe(`✓ ${loan}: valid lifecycle \`loan\`, 4 states\n`);
    const policies = join(ROOT, 'examples/lifecycle/loan-policies.json');
    expect(pawl('validate', policies).stdout).toBe(`✓ ${policies}: valid policies for the lifecycle \`loan\`\n`);
    const both = JSON.stringify({ definition: read('loan.json'), policies: read('loan-policies.json') });
    const path = file('both.json', both);
    expect(pawl('validate', path).stdout).toBe(`✓ ${path}: valid lifecycle \`loan\`, 4 states, 1 policy\n`);
    expect(json(path)).toEqual({ status: 0, ok: true, format: 'lifecycle', problems: [] });
    const wrong = file('wrong.json', both.replace('"submit":{', '"sumbit":{'));
    expect(json(wrong).problems).toMatchObject([
      { code: 'UNKNOWN_EVENT', path: '/definition/transitions/0/on', suggestion: 'did you mean `sumbit`?', line: 1 },
      { code: 'UNKNOWN_EVENT', path: '/policies/policies/0/on/transition/event' },
    ]);
  });

  it('pawl validate shows the problems of a lifecycle at their line', () => {
    const text = readFileSync(join(ROOT, 'examples/lifecycle/loan.json'), 'utf8');
    const path = file('loan.json', text.replace('"48h"', '"two days"'));
    expect(pawl('validate', path)).toMatchObject({
      status: 1,
      stdout: `error[BAD_DURATION]: "two days" is not a duration of at most ten years
 --> ${path}:8:42
  |
8 |     "submitted": { "timeout": { "after": "two days", "event": "remind", "mode": "repeat", "max": 3 } },
  |                                          ^^^^^^^^^^
  = at /states/submitted/timeout/after
  = help: write "500ms", "30s", "5m", "2h" or "1d"

✗ ${path}: 1 problem
`,
    });
  });
});

describe('pawl test', () => {
  it('pawl test runs the examples of docs/testing.md', () => {
    expect(pawl('test', join(ROOT, 'examples'))).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('4 tests passed'),
      stderr: '',
    });
  });

  it('pawl test reports what differs from the expectation, and exits with 1', () => {
    file('wrong.json', '{"name":"wrong","tasks":{"a":{"url":"https://example.com"}}}');
    const path = file(
      'wrong.test.yaml',
      'tests:\n  - name: fails\n    stubs: { http.step: { outputs: { status_code: 200 } } }\n    expect: { nodes: { a: Failed } }\n',
    );
    expect(pawl('test', path)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('nodes.a.status: expected "Failed", got "Succeeded"'),
    });
    expect(JSON.parse(pawl('test', path, '--json').stdout)).toMatchObject({
      ok: false,
      files: [{ tests: [{ name: 'fails', ok: false }] }],
    });
  });

  it('pawl test refuses a file that is not a test, with all its problems', () => {
    const path = file('bad.test.yaml', 'workflow: wrong.json\ntests: [{ nam: x, expect: { status: Done } }]\n');
    const { status, stderr } = pawl('test', path);
    expect(status).toBe(2);
    expect(stderr).toContain('tests.0.expect.status');
    expect(pawl('test', join(folder, 'none.test.json'))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('cannot read'),
    });
  });
});

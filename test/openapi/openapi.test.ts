// The OpenAPI document as others use it: it is linted, its examples are sent, clients are generated from it, and generated
// requests are checked against it. `npm run servers` obtains schemathesis and the generators; without them their tests are
// skipped, and say so.

import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { lintFromString, loadConfig } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonClient, typescriptClient } from '../../scripts/server/api-tools.ts';
import { cacheFolder } from '../../scripts/server/server.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { fuzz, hasSchemathesis } from './fuzz.ts';
import { LOOSE, STRICT, strictToken } from './fuzzed-server.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');

interface Operation extends JsonObject {
  readonly operationId: string;
}

let database: TestDatabase;
let loose: Pawl;
let strict: Pawl;
let folder: string;
let document: JsonObject;

beforeAll(async () => {
  database = await testDatabase();
  loose = await createPawl({ ...LOOSE, database: { url: database.connectionString } });
  strict = await createPawl({ ...STRICT, database: { url: database.connectionString } });
  folder = mkdtempSync(join(tmpdir(), 'pawl-openapi-'));
  document = (await (await fetch(`${strict.url}/api/v1/openapi.json`)).json()) as JsonObject;
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
});

afterAll(async () => {
  await loose?.close();
  await strict?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const operations = (): [name: string, operation: Operation][] =>
  Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );

describe('the OpenAPI document', () => {
  it('the linter finds no problem in the OpenAPI document', async () => {
    const config = await loadConfig({ configPath: join(ROOT, 'redocly.yaml') });
    const source = JSON.stringify(document);
    const problems = await lintFromString({ source, absoluteRef: join(folder, 'openapi.json'), config });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual(
      [],
    );
  });

  it('every JSON body in the OpenAPI document has an example that matches its schema', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'api');
    for (const [name, { requestBody }] of operations()) {
      const content = (requestBody as { content?: JsonObject } | undefined)?.content?.['application/json'];
      if (content === undefined) continue;
      const { example } = content as JsonObject;
      expect(example, `${name} has no example (src/server/openapi-example.ts)`).toBeDefined();
      const [method, path] = name.split(' ') as [string, string];
      const place = path.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');
      const pointer = `api#/paths/${place}/${method.toLowerCase()}/requestBody/content/application~1json/schema`;
      const validate = ajv.compile({ $ref: pointer });
      expect(validate(example), `${name}: ${ajv.errorsText(validate.errors)}`).toBe(true);
    }
  });

  it('the OpenAPI document has no pattern that only JavaScript can read', () => {
    expect(JSON.stringify(document)).not.toContain('\\\\p{');
  });
});

/** The whole raw answer of the server. */
function rawAnswer(url: string, request: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let said = '';
    socket.on('data', (piece) => {
      said += piece.toString();
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(said));
    socket.write(`${request} HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n\r\n`);
  });
}

describe('a method that a path does not support', () => {
  it.each(['QUERY', 'TRACE', 'PROPFIND', 'FROBNICATE'])(
    'the method %s is refused with the list of supported methods',
    async (method) => {
      const answer = await rawAnswer(loose.url!, `${method} /api/v1/workflows/validate`);
      expect(answer).toMatch(/^HTTP\/1\.1 405 /);
      expect(answer.toLowerCase()).toContain('allow: options, post\r\n');
      expect(answer).toContain('"METHOD_NOT_ALLOWED"');
    },
  );

  it('an unknown method on an unknown path is answered with 404', async () => {
    expect(await rawAnswer(loose.url!, 'FROBNICATE /api/v1/nothing')).toMatch(/^HTTP\/1\.1 404 /);
  });
});

const WITHOUT_SCHEMATHESIS = !hasSchemathesis();
if (WITHOUT_SCHEMATHESIS)
  console.warn('SKIPPED: generated requests to the API. `npm run servers` obtains schemathesis.');

// The edges of every schema take minutes: `npm run fuzz:api` tries them too.
describe.skipIf(WITHOUT_SCHEMATHESIS)('generated requests', { timeout: 300_000 }, () => {
  it('a loose server answers generated requests as its document says', async () => {
    const { ok, report } = await fuzz({ url: loose.url!, token: null, examples: 1, phases: 'examples,fuzzing' });
    expect(ok, report.slice(-20_000)).toBe(true);
  });

  it('a strict server answers generated requests as its document says', async () => {
    const token = await strictToken();
    const { ok, report } = await fuzz({ url: strict.url!, token, examples: 1, seed: 2, phases: 'examples,fuzzing' });
    expect(ok, report.slice(-20_000)).toBe(true);
  });
});

const GRAPH = {
  id: 'generated',
  displayName: 'Generated',
  startNode: 'hello',
  nodes: [{ id: 'hello', actionType: 'core.echo', parameters: { text: 'Hello {{ trigger.name }}' } }],
};

const TYPESCRIPT = (url: string) => `
import createClient from 'openapi-fetch';
import type { paths } from './api.ts';
const client = createClient<paths>({ baseUrl: ${JSON.stringify(url)} });
const started = await client.POST('/api/v1/workflows/{workflowId}/execute', {
  params: { path: { workflowId: 'generated' }, query: { wait: '30s' } },
  body: { trigger: { name: 'Ada' } },
});
if (started.error !== undefined) throw new Error(started.error.error.message);
const executionId: string = started.data.executionId;
const read = await client.GET('/api/v1/executions/{executionId}', { params: { path: { executionId } } });
const page = await client.GET('/api/v1/executions', { params: { query: { limit: 1, status: ['Succeeded'] } } });
console.log(JSON.stringify({ status: read.data?.status, outputs: read.data?.outputs, listed: page.data?.data.length }));
`;

const PYTHON = (url: string) => `
import json, sys
sys.path.insert(0, sys.argv[1])
from pawl_client import Client
from pawl_client.models import ExecuteRequest
from pawl_client.api.executions import post_workflows_workflow_id_execute, get_executions_execution_id
client = Client(base_url=${JSON.stringify(url)})
started = post_workflows_workflow_id_execute.sync('generated', client=client, wait='30s', body=ExecuteRequest(trigger={'name': 'Ada'}))
read = get_executions_execution_id.sync(started.execution_id, client=client)
print(json.dumps({'status': str(read.status), 'outputs': read.outputs}))
`;

describe('a generated client', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    await loose.publish(GRAPH);
  });

  const generator = typescriptClient.find();
  if (generator === null)
    console.warn('SKIPPED: the generated TypeScript client. `npm run servers` obtains its generator.');

  it.skipIf(generator === null)('a generated TypeScript client starts a workflow and reads its result', async () => {
    await run(generator!, ['openapi.json', '-o', 'api.ts'], { cwd: folder });
    if (!existsSync(join(folder, 'node_modules')))
      symlinkSync(join(cacheFolder('openapi-typescript-7'), 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'client.ts'), TYPESCRIPT(loose.url!));
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions', '--module', 'nodenext'];
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')];
    const compiling = [...flags, ...types, '--target', 'es2024', 'client.ts'];
    const problems = await run(join(ROOT, 'node_modules', '.bin', 'tsc'), compiling, { cwd: folder }).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
    expect(problems).toBe('');
    const { stdout } = await run(process.execPath, ['client.ts'], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual({ status: 'Succeeded', outputs: { text: 'Hello Ada' }, listed: 1 });
  });

  const python = pythonClient.find();
  if (python === null) console.warn('SKIPPED: the generated Python client. `npm run servers` obtains its generator.');

  it.skipIf(python === null)('a generated Python client starts a workflow and reads its result', async () => {
    writeFileSync(join(folder, 'config.yml'), 'package_name_override: pawl_client\nproject_name_override: generated\n');
    const args = ['generate', '--path', 'openapi.json', '--config', 'config.yml', '--meta', 'none'];
    await run(python!, [...args, '--output-path', join(folder, 'pawl_client'), '--overwrite'], { cwd: folder });
    writeFileSync(join(folder, 'client.py'), PYTHON(loose.url!));
    const interpreter = join(cacheFolder('openapi-python-client'), 'bin', 'python');
    const { stdout } = await run(interpreter, ['client.py', folder], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'Succeeded' });
  });
});

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { call, graph, node, pipeline, plan, step } from './definition.testing.ts';

const ROOT = join(import.meta.dirname, '../../..');
const readJson = (...path: string[]) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8')) as object;

const ajv = new Ajv2020({ formats: { 'date-time': true } });
const validators = {
  graph: ajv.compile(readJson('schemas/graph.schema.json')),
  pipeline: ajv.compile(readJson('schemas/pipeline.schema.json')),
  plan: ajv.compile(readJson('schemas/plan.schema.json')),
};

describe('the generated JSON Schemas', () => {
  it('the generated JSON Schemas are up to date', () => {
    execFileSync(process.execPath, ['scripts/generate.ts', '--check'], { cwd: ROOT, stdio: 'pipe' });
  });

  it.each(['graph', 'pipeline', 'plan'] as const)(
    'the generated JSON Schemas accept every %s of the examples',
    (format) => {
      for (const name of readdirSync(join(ROOT, 'examples', format)).filter((file) =>
        /(?<!\.test)\.json$/.test(file),
      )) {
        const validate = validators[format];
        expect(validate(readJson('examples', format, name)) || validate.errors).toBe(true);
      }
    },
  );

  it('the generated JSON Schemas refuse misspelt, missing and wrongly typed fields', () => {
    expect(validators.graph(graph([node('a', { paramters: {} })]))).toBe(false);
    expect(validators.graph({ id: 'a' })).toBe(false);
    expect(validators.pipeline(pipeline({ a: call({ retries: '5' }) }))).toBe(false);
    expect(validators.plan(plan([step('a', { inputs: null })]))).toBe(false);
  });
});

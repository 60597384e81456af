// Writes the files of the repository that are generated from code (`npm run generate`). With --check it writes nothing and fails
// when one of them is out of date.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { builtInActionSchemas } from '../src/app/catalog.ts';
import { type OptionReference, optionReference } from '../src/config/config.ts';
import { SEED_OPTIONS } from '../src/config/seed-option.ts';
import { definitionJsonSchema } from '../src/core/definition/json-schema.ts';
import { lifecycleJsonSchema } from '../src/lifecycle/machine/json-schema.ts';
import { eventSchemaFiles } from '../src/protocol/event.ts';
import { generateArchitecture } from './generate-architecture.ts';

const ROOT = join(import.meta.dirname, '..');

interface GeneratedFile {
  readonly path: string;
  content(): string;
}

const FILES: readonly GeneratedFile[] = [
  { path: 'schemas/graph.schema.json', content: () => asJson(definitionJsonSchema('graph')) },
  { path: 'schemas/pipeline.schema.json', content: () => asJson(definitionJsonSchema('pipeline')) },
  { path: 'schemas/plan.schema.json', content: () => asJson(definitionJsonSchema('plan')) },
  { path: 'schemas/lifecycle.schema.json', content: () => asJson(lifecycleJsonSchema('lifecycle')) },
  { path: 'schemas/policies.schema.json', content: () => asJson(lifecycleJsonSchema('policies')) },
  { path: 'schemas/actions.json', content: () => asJson(Object.keys(builtInActionSchemas())) },
  { path: 'schemas/action-schemas.json', content: () => asJson(builtInActionSchemas()) },
  ...eventSchemaFiles().map(({ name, schema }) => ({
    path: `contracts/events/${name}`,
    content: () => asJson(schema),
  })),
  { path: 'docs/configuration.md', content: configurationPage },
  ...generateArchitecture().map(({ path, content }) => ({ path, content: () => content })),
];

const CONFIGURATION_INTRODUCTION = `# Configuration

Pawl runs without any. What it needs to know otherwise comes from three places; later ones count more:

1. **a file**, \`pawl.config.ts\`, \`.js\`, \`.yaml\` or \`.json\` in the folder where it runs (or \`--config FILE\`, \`PAWL_CONFIG\`);
2. **the environment**, under the name in the second column below;
3. **flags** of the command, or what your program gives to \`createPawl\`.

\`\`\`yaml
# pawl.config.yaml
server:
  port: 8080
engine:
  maxParallelActions: 50
  maxParallelPerAction: { slack.post-message: 5 }
\`\`\`

\`\`\`ts
// pawl.config.ts: the same, with types
import type { ConfigInput } from 'pawl';

export default { server: { port: 8080 }, engine: { maxParallelActions: 50 } } satisfies ConfigInput;
\`\`\`

The start reports every wrong value and where it came from; \`pawl doctor\` does too:

\`\`\`
The configuration is not valid:
- server.prot: there is no such option; did you mean server.port? (from pawl.config.yaml)
- engine.leaseMs: expected at least 500, got 10 (from PAWL_ENGINE_LEASE_MS)
\`\`\`

A variable \`PAWL_…\` that is no option is a warning in the log, with the one that was probably meant. Units are in the names;
\`DATABASE_URL\` and the \`OTEL_…\` variables of OpenTelemetry are understood too. Credentials of connectors are
\`CONNECTOR_<ID>_TOKEN\`, only in the environment ([connectors.md](connectors.md)). Secrets belong there as well: a file is
read by everybody who reads the repository.

This page is generated from the options themselves (\`npm run generate\`).
`;

function configurationPage(): string {
  const sections = Map.groupBy(optionReference(), ({ section }) => section);
  const tables = [...sections].map(([section, options]) => {
    const rows = options.map(optionRow).join('\n');
    return `## ${section}\n\n| option | environment | default | what it is |\n|---|---|---|---|\n${rows}`;
  });
  return `${CONFIGURATION_INTRODUCTION}
${tables.join('\n\n')}

## Names in the specification

| there | here |
|---|---|
${SEED_OPTIONS.map(({ name, here }) => `| \`${name}\` | ${/^[a-z]+\.[A-Za-z]+$/i.test(here) ? `\`${here}\`` : here} |`).join('\n')}
`;
}

function optionRow({ option, variable, defaultValue, description }: OptionReference): string {
  const given = defaultValue === undefined ? '' : `\`${defaultValue}\``;
  return `| \`${option}\` | \`${variable}\` | ${given} | ${description.replaceAll('|', '\\|')} |`;
}

function asJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function current(path: string): string | null {
  try {
    return readFileSync(join(ROOT, path), 'utf8');
  } catch {
    return null;
  }
}

function write({ path, content }: GeneratedFile): void {
  const target = join(ROOT, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content());
}

const stale = FILES.filter(({ path, content }) => current(path) !== content());
const names = stale.map(({ path }) => path).join(', ');
if (!process.argv.includes('--check')) {
  stale.forEach(write);
  console.log(stale.length === 0 ? 'Generated files are up to date.' : `Wrote ${names}.`);
} else if (stale.length > 0) {
  console.error(`Out of date: ${names}.\n  Run: npm run generate`);
  process.exitCode = 1;
}

// Writes the files of the repository that are made from code (`npm run generate`). With --check it writes nothing and
// fails when one of them is not what it would write.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { builtInActionTypes } from '../src/catalog.ts';
import { type OptionReference, optionReference } from '../src/config.ts';
import { definitionJsonSchema } from '../src/core/definition/json-schema.ts';
import { lifecycleJsonSchema } from '../src/lifecycle/json-schema.ts';
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
  { path: 'schemas/actions.json', content: () => asJson(builtInActionTypes().sort()) },
  ...eventSchemaFiles().map(({ name, schema }) => ({
    path: `contracts/events/${name}`,
    content: () => asJson(schema),
  })),
  { path: 'docs/configuration.md', content: configurationPage },
  ...generateArchitecture().map(({ path, content }) => ({ path, content: () => content })),
];

function configurationPage(): string {
  const sections = Map.groupBy(optionReference(), ({ section }) => section);
  const tables = [...sections].map(([section, options]) => {
    const rows = options.map(optionRow).join('\n');
    return `## ${section}\n\n| option | environment | default | what it is |\n|---|---|---|---|\n${rows}`;
  });
  return `# Configuration

Every option can be given to \`createPawl\`, or in the environment under the name in the second column; commands have flags for
the common ones. \`DATABASE_URL\` stands for \`database.url\`. Units are in the names. This page is generated from
\`src/config.ts\` (\`npm run generate\`).

${tables.join('\n\n')}

Credentials of connectors are read from \`CONNECTOR_<ID>_TOKEN\` (see connectors.md).
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

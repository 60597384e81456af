// Writes the generated part of ARCHITECTURE.md: the layer diagram and the list of folders. Both come from the table that
// test/tidy enforces, so that the picture always matches the rules. `--check` writes nothing and fails when the committed text is
// out of date.

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Layer, layers } from '../test/tidy/layers.ts';

export interface GeneratedFile {
  readonly path: string;
  readonly content: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const document = 'ARCHITECTURE.md';
const begin = '<!-- generated from test/tidy/layers.ts: begin -->';
const end = '<!-- generated from test/tidy/layers.ts: end -->';

export function generateArchitecture(): GeneratedFile[] {
  const current = readFileSync(join(root, document), 'utf8');
  return [
    {
      path: document,
      content: replaceBetween(current, [diagram(), folderList(), ...layers.flatMap(roomList)].join('\n\n')),
    },
  ];
}

/** Paths whose committed text differs from what would be generated now. */
export function staleFiles(): string[] {
  return generateArchitecture()
    .filter(({ path, content }) => readFileSync(join(root, path), 'utf8') !== content)
    .map(({ path }) => path);
}

function replaceBetween(text: string, block: string): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${document} needs the two lines "${begin}" and "${end}", in this order.`);
  return `${text.slice(0, from + begin.length)}\n\n${block}\n\n${text.slice(to)}`;
}

/**
 * Rooms that share a box, so that the picture fits on one screen; the table below has every folder. Every other room gets its
 * own box.
 */
const SHARED_BOXES: Readonly<Record<string, readonly string[]>> = {
  'core, lifecycle/machine': ['src/core', 'src/lifecycle/machine'],
  'store, clock': ['src/store', 'src/store/connection', 'src/clock'],
  'store/*': ['src/store/postgres', 'src/store/migrate', 'src/store/embedded'],
  'action, secret, artifact, connection, quota': [
    'src/action',
    'src/secret',
    'src/artifact',
    'src/connection',
    'src/quota',
  ],
  'action/*, secret/*, artifact/*': ['src/action/*', 'src/secret/*', 'src/artifact/*'],
  'workflow, template, testing': ['src/workflow', 'src/template', 'src/testing'],
  engine: ['src/engine', 'src/engine/attempt', 'src/engine/turn', 'src/engine/runner'],
  'execution, task-queue, statistics': ['src/execution', 'src/task-queue', 'src/statistics'],
  'trigger, delivery, lifecycle/instance': ['src/trigger', 'src/delivery', 'src/lifecycle/instance'],
  'sdk, mcp': ['src/sdk', 'src/mcp'],
};

function diagram(): string {
  const drawn = layers.filter(isDrawn);
  const shapes = new Map(drawn.map((layer) => [boxOf(layer), boxShape(layer, boxOf(layer))]));
  const known = new Map<string, Set<string>>();
  for (const layer of drawn) {
    const targets = drawn.filter(({ path }) => layer.imports.includes(path)).map(boxOf);
    const others = targets.filter((box) => box !== boxOf(layer));
    known.set(boxOf(layer), new Set([...(known.get(boxOf(layer)) ?? []), ...others]));
  }
  const reaches = (from: string, target: string): boolean =>
    [...(known.get(from) ?? [])].some((next) => next === target || reaches(next, target));
  const boxes = [...shapes].map(([box, shape]) => `  ${boxId(box)}${shape}`);
  const arrows = [...known].flatMap(([box, targets]) =>
    [...targets]
      // An arrow that follows from two others would only make the picture harder to read.
      .filter((target) => ![...targets].some((middle) => middle !== target && reaches(middle, target)))
      .map((target) => `  ${boxId(box)} ${target.endsWith('/*') ? '-.->' : '-->'} ${boxId(target)}`),
  );
  return ['```mermaid', 'flowchart TD', ...boxes, ...arrows, '```'].join('\n');
}

function isDrawn({ path }: Layer): boolean {
  return path.startsWith('src/') && !path.endsWith('.ts') && exists(path);
}

function boxOf({ path, implementation }: Layer): string {
  const row = implementation && !path.endsWith('/*') ? `${dirname(path)}/*` : path;
  const shared = Object.entries(SHARED_BOXES).find(([, paths]) => paths.includes(path) || paths.includes(row));
  return shared?.[0] ?? row.replace(/^src\//, '');
}

const boxId = (box: string): string => box.replace(/[^a-z]+/g, '_');

/** Pure layers are round, ports and services square, implementations slanted. */
function boxShape({ pure, implementation }: Layer, box: string): string {
  if (pure) return `(["${box}"])`;
  return implementation ? `[/"${box}"/]` : `["${box}"]`;
}

function folderList(): string {
  const rows = layers.map((layer) => {
    const packages = layer.packages.map((name) => `\`${name}\``).join(', ') || 'none';
    return `| \`${layer.path}\` | ${layer.job}${layer.pure ? ' (pure)' : ''} | ${packages} |`;
  });
  return ['| where | what it does | packages it may use |', '|---|---|---|', ...rows].join('\n');
}

function roomList({ path, rooms }: Layer): string[] {
  if (rooms === undefined) return [];
  const rows = Object.entries(rooms).map(([name, job]) => `| \`${path}/${name}\` | ${job} |`);
  return [['| room | what happens there |', '|---|---|', ...rows].join('\n')];
}

function exists(path: string): boolean {
  const parent = join(root, path.replace(/\/\*$/, ''));
  if (!existsSync(parent)) return false;
  if (statSync(parent).isFile()) return true;
  return path.endsWith('/*') ? foldersIn(parent).some(holdsFiles) : holdsFiles(parent);
}

function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
}

/** Git keeps no empty folders, so this ignores them too. */
function holdsFiles(folder: string): boolean {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).some((entry) => entry.isFile());
}

function main(args: readonly string[]): void {
  if (!args.includes('--check')) {
    for (const { path, content } of generateArchitecture()) writeFileSync(join(root, path), content);
    return;
  }
  for (const path of staleFiles()) {
    console.error(`${path} is out of date. Run: npm run generate`);
    process.exitCode = 1;
  }
}

if (import.meta.main) main(process.argv.slice(2));

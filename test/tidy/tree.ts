// The files of the project as the rules see them: path and text, and for TypeScript the parsed module. Reading honours
// .gitignore, so that the tests also work in a copy without a git directory. Samples are trees too, made from strings.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, matchesGlob } from 'node:path';
import { type Module, parseModule, readImports } from './module.ts';

export interface Tree {
  /** Text by path, relative to the root, with forward slashes. */
  readonly files: ReadonlyMap<string, string>;
  readonly modules: ReadonlyMap<string, Module>;
  readonly unreadable: readonly { readonly path: string; readonly message: string }[];
}

export function readTree(root: string): Tree {
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8').split('\n').map(toPattern).filter(Boolean);
  const files = new Map<string, string>();
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.name === '.git' || ignored.some((pattern) => isIgnored(path, pattern))) continue;
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile()) addText(files, path, readFileSync(join(root, path)));
    }
  };
  visit('');
  return parseTree(files);
}

export function treeOf(files: Readonly<Record<string, string>>): Tree {
  return parseTree(new Map(Object.entries(files)));
}

export function isTestCode(path: string): boolean {
  return /\.(test|testing)\.ts$/.test(path) || path.startsWith('test/');
}

/** What is shipped: src without the tests that sit beside it. */
export function isShipped(path: string): boolean {
  return path.startsWith('src/') && !isTestCode(path);
}

function parseTree(files: ReadonlyMap<string, string>): Tree {
  const modules = new Map<string, Module>();
  const unreadable: { path: string; message: string }[] = [];
  for (const [path, text] of files) {
    if (path.endsWith('.tsx')) modules.set(path, readImports(path, text));
    if (!path.endsWith('.ts')) continue;
    try {
      modules.set(path, parseModule(path, text));
    } catch (error) {
      unreadable.push({ path, message: error instanceof Error ? error.message : String(error) });
    }
  }
  return { files, modules, unreadable };
}

function addText(files: Map<string, string>, path: string, bytes: Buffer): void {
  if (!bytes.includes(0)) files.set(path, bytes.toString('utf8'));
}

function toPattern(line: string): string {
  const text = line.trim();
  return text.startsWith('#') ? '' : text.replace(/\/$/, '');
}

/** The two kinds of pattern our .gitignore has: a bare name matches at every depth, a path from the root. */
function isIgnored(path: string, pattern: string): boolean {
  return matchesGlob(pattern.includes('/') ? path : basename(path), pattern.replace(/^\//, ''));
}

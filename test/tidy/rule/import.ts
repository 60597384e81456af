// Rules about imports: the layer table, test code in the product, and folders that must stay portable.

import { posix } from 'node:path';
import { layers, mayImport, mayUsePackage, portable, roomOf, standsFor } from '../layers.ts';
import type { Import, Module } from '../module.ts';
import { type Finding, inModules, type Rule } from '../rule.ts';
import { isTestCode, type Tree } from '../tree.ts';

const inLayers = (path: string): boolean => /^(src|dashboard|examples)\//.test(path) && !isTestCode(path);

export const importRules: readonly Rule[] = [
  {
    name: 'layer',
    fix: 'move the code to a layer that may import it, take it as an argument, or change the table in test/tidy/layers.ts with a reason',
    check: inModules(inLayers, (module) => {
      if (roomOf(module.path) === undefined)
        return [{ file: module.path, line: 1, what: 'no row of the layer table holds this file' }];
      return module.imports.flatMap((entry) => findingFor(module, entry, layerProblem(module, entry)));
    }),
  },
  {
    name: 'no test code in the product',
    fix: 'move what both need into a file of the layer it belongs to',
    check: inModules(inLayers, (module) =>
      module.imports.flatMap((entry) => {
        const target = targetOf(module, entry);
        const isTest = target !== undefined && isTestCode(target);
        return findingFor(module, entry, isTest ? `imports the test code ${target}` : undefined);
      }),
    ),
  },
  {
    name: 'portable',
    fix: 'keep parsers and schemas in the compiler: what a decision needs arrives compiled, in the plan',
    check: unportable,
  },
];

function layerProblem(module: Module, entry: Import): string | undefined {
  const from = roomOf(module.path)!;
  const { specifier } = entry;
  if (specifier === undefined) return 'imports a computed path, which nobody can check';
  const target = targetOf(module, entry);
  if (target === undefined) {
    const name = packageName(specifier);
    return mayUsePackage(from, name) ? undefined : `${from.path} may not use the package ${name}`;
  }
  if (isTestCode(target)) return undefined; // its own rule says so
  const to = roomOf(target);
  if (to === undefined) return `${from.path} may not import ${target}, which no row of the layer table holds`;
  const secret = to.layer.implementation ? ` (an implementation: only src/app knows it)` : '';
  return mayImport(from, to) ? undefined : `${from.path} may not import ${to.path}${secret}: ${target}`;
}

/** Packages that a row allows and none of its files uses, as `row: package`. Rows without files are to come. */
export function unusedPackages(tree: Tree): string[] {
  const used = new Map<string, Set<string>>();
  for (const module of tree.modules.values()) {
    const row = inLayers(module.path) ? roomOf(module.path)?.layer.path : undefined;
    if (row === undefined) continue;
    const names = used.get(row) ?? new Set();
    used.set(row, names);
    for (const entry of module.imports) {
      if (entry.specifier !== undefined && targetOf(module, entry) === undefined)
        names.add(packageName(entry.specifier));
    }
  }
  return layers.flatMap(({ path, packages }) => {
    const names = [...(used.get(path) ?? [])];
    const unused = packages.filter((allowed) => !names.some((name) => standsFor(allowed, name)));
    return used.has(path) ? unused.map((allowed) => `${path}: ${allowed}`) : [];
  });
}

/** The file that a relative import names, from the root of the tree; undefined for packages. */
function targetOf(module: Module, { specifier }: Import): string | undefined {
  return specifier?.startsWith('.') ? posix.join(posix.dirname(module.path), specifier) : undefined;
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function findingFor(module: Module, { line }: Import, what: string | undefined): Finding[] {
  return what === undefined ? [] : [{ file: module.path, line, what }];
}

function runtimeImports(module: Module): Import[] {
  return module.imports.filter(({ kind }) => kind === 'runtime');
}

function unportable(tree: Tree): Finding[] {
  const reached = new Set<Module>();
  const visit = (module: Module): void => {
    if (reached.has(module)) return;
    reached.add(module);
    for (const entry of runtimeImports(module)) {
      const target = tree.modules.get(targetOf(module, entry) ?? '');
      if (target !== undefined) visit(target);
    }
  };
  for (const module of tree.modules.values()) {
    if (module.path.startsWith(`${portable.folder}/`) && !isTestCode(module.path)) visit(module);
  }
  return [...reached].flatMap((module) => runtimeImports(module).flatMap((entry) => unportableImport(module, entry)));
}

function unportableImport(module: Module, entry: Import): Finding[] {
  if (entry.specifier === undefined || targetOf(module, entry) !== undefined) return [];
  const name = packageName(entry.specifier);
  const allowed = portable.packages.some((candidate) => candidate === name);
  return findingFor(module, entry, allowed ? undefined : `${portable.folder} reaches the package ${name}`);
}

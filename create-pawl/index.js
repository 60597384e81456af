#!/usr/bin/env node
// `npm create pawl [folder]`: copies the template into a new folder. Installs nothing and overwrites nothing. Plain JavaScript that
// any Node from 20 on understands.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const TEMPLATE = fileURLToPath(new URL('./template/', import.meta.url));
const OWN = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'));
const HELP = `Usage: npm create pawl [folder] [-- --pawl <version or tarball>]

Creates a project in the folder (my-pawl): a workflow, an action, tests and a compose file.

  --pawl <spec>   what package.json says for pawl, such as file:../pawl-0.1.0.tgz (^${OWN.version})
  -h, --help      print this help
`;

function fail(message) {
  process.stderr.write(`create-pawl: ${message}\n`);
  process.exit(2);
}

function options() {
  try {
    const pawl = { type: 'string', default: `^${OWN.version}` };
    return parseArgs({ allowPositionals: true, options: { pawl, help: { type: 'boolean', short: 'h' } } });
  } catch (error) {
    fail(`${error.message}\nRun \`npm create pawl -- --help\` to see what it takes.`);
  }
}

const { values, positionals } = options();
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const [given = 'my-pawl', ...more] = positionals;
if (more.length > 0) fail(`one folder is enough, and these were given too: ${more.join(', ')}`);
const folder = resolve(given);
if (existsSync(folder) && readdirSync(folder).length > 0) fail(`${given} is not empty: name a new folder`);

mkdirSync(folder, { recursive: true });
cpSync(TEMPLATE, folder, { recursive: true });
// npm leaves a .gitignore out of packages.
renameSync(join(folder, '_gitignore'), join(folder, '.gitignore'));
const file = join(folder, 'package.json');
const project = JSON.parse(readFileSync(file, 'utf8'));
project.name = packageName(basename(folder));
project.dependencies.pawl = values.pawl;
// npm asks about the scripts of a tarball under its name; nothing of Pawl's needs to run.
if (values.pawl.startsWith('file:')) project.allowScripts[values.pawl] = false;
writeFileSync(file, `${JSON.stringify(project, null, 2)}\n`);

const needsNode = Number(process.versions.node.split('.')[0]) < 24;
process.stdout.write(`Created ${given}.

  cd ${given}
  npm install
  npm test           run the tests: no database, no server
  npm run dev        start Pawl with a database of its own; publishes workflows/ whenever you save
${needsNode ? `\nPawl needs Node 24 or newer, and this is ${process.version}: https://nodejs.org\n` : ''}`);

/** npm allows no capitals and few signs in a name. */
function packageName(name) {
  const clean = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  return clean === '' ? 'my-pawl' : clean;
}

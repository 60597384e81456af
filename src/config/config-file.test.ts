import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfigFile } from './config-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pawl-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

describe('a configuration file', () => {
  it.each([
    ['pawl.config.yaml', 'server:\n  port: 8080 # a comment\n'],
    ['pawl.config.json', '{ "server": { "port": 8080 } }'],
    ['pawl.config.ts', 'const port: number = 8080;\nexport default { server: { port } };'],
    ['pawl.config.mjs', 'export default { server: { port: 8080 } };'],
  ])('the configuration file may be %s', async (name, text) => {
    write(name, text);
    expect(await readConfigFile(folder)).toEqual({ name, options: { server: { port: 8080 } } });
  });

  it('the configuration file may be absent, empty or in another place', async () => {
    expect(await readConfigFile(folder)).toBeNull();
    write('pawl.config.yaml', '# nothing yet\n');
    expect(await readConfigFile(folder)).toEqual({ name: 'pawl.config.yaml', options: {} });
    write('staging.yaml', 'engine: { name: staging }');
    expect(await readConfigFile(folder, 'staging.yaml')).toMatchObject({ options: { engine: { name: 'staging' } } });
  });

  it.each([
    ['pawl.config.yaml', 'server: [', /pawl.config.yaml cannot be read: .*line 1/s],
    ['pawl.config.yaml', 'server: {}\nserver: {}', /Map keys must be unique/],
    ['pawl.config.yaml', '- port', /must hold an object of sections/],
    ['pawl.config.mjs', 'export const options = {};', /must have a default export/],
    ['pawl.config.mjs', 'import "./nothing.mjs";', /cannot be loaded: /],
  ])('the file %s with %j is refused', async (name, text, message) => {
    write(name, text);
    await expect(readConfigFile(folder)).rejects.toThrow(message);
  });

  it('a named configuration file must exist, and two files are refused', async () => {
    await expect(readConfigFile(folder, 'missing.yaml')).rejects.toThrow(/no file .*missing.yaml/);
    write('pawl.config.yaml', '');
    write('pawl.config.json', '{}');
    await expect(readConfigFile(folder)).rejects.toThrow('pawl.config.yaml and pawl.config.json');
  });
});

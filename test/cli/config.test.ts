// The configuration file and the environment, as the command line reads them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { pawl } from './dev-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'pawl-config-'));
const file = join(folder, 'pawl.config.yaml');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the configuration of the command line', () => {
  it('the configuration comes from a file, the environment overrides it, and a flag overrides both', async () => {
    writeFileSync(file, `database: { dataDir: ${join(folder, 'data')} }\nserver: { port: 70 }\n`);
    const port = async (environment: Record<string, string>, ...more: string[]) => {
      const { stdout } = await pawl(environment, 'doctor', '--json', '--config', file, ...more);
      const { findings } = JSON.parse(stdout) as { findings: { check: string; detail: string }[] };
      return findings.find(({ check }) => check === 'port')?.detail;
    };
    expect(await port({})).toContain('70 of 127.0.0.1');
    expect(await port({ PAWL_SERVER_PORT: '7' })).toContain('7 of 127.0.0.1');
    expect(await port({ PAWL_SERVER_PORT: '7' }, '--port', '0')).toBe('any free one');
  });

  it('environment variables that are no option are ignored, and a message names them', async () => {
    const { stderr } = await pawl({ PAWL_SERVER_PROT: '1' }, 'doctor', '--json');
    expect(stderr).toBe('pawl: PAWL_SERVER_PROT is ignored: there is no such option; did you mean PAWL_SERVER_PORT?\n');
  });

  it('commands that open the database read the configuration, and commands that only ask a server do not', async () => {
    const none = ['--config', join(folder, 'none.yaml')];
    const nowhere = ['--url', 'http://127.0.0.1:9'];
    expect((await pawl({}, 'keys', 'list', '--tenant', 'default', ...none)).stderr).toContain('There is no file');
    expect((await pawl({}, 'list', ...nowhere, ...none)).stderr).not.toContain('There is no file');
    expect((await pawl({}, 'connections', 'list', ...nowhere, ...none)).stderr).not.toContain('There is no file');
  });

  it('a wrong configuration is reported with the name of each option, and exit code 2', async () => {
    writeFileSync(file, 'server: { prot: 70 }\n');
    expect(await pawl({ PAWL_ENGINE_LEASE_MS: 'x' }, 'serve', '--config', file)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /server\.prot: there is no such option; did you mean server\.port\? .*engine\.leaseMs: expected a number, got "x" \(from PAWL_ENGINE_LEASE_MS\)/s,
      ),
    });
    expect(await pawl({}, 'serve', '--config', join(folder, 'none.yaml'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no file'),
    });
  });
});

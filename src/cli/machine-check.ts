// The machine checks of `pawl doctor`: Node, the configuration, the data folder and its disk, the port.

import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Config, type ConfigInput, resolveConfig } from '../config/config.ts';
import { isPawl } from './dev-address.ts';
import { isPortFree } from './port.ts';
import { type Finding, unwell, well } from './terminal/finding.ts';

const MINIMUM_NODE = 24;
const GIB = 1024 ** 3;

export function nodeFinding(version = process.versions.node): Finding {
  if (Number(version.split('.')[0]) >= MINIMUM_NODE) return well('node', `v${version}`);
  return unwell(
    'node',
    `v${version}`,
    `Pawl needs ${MINIMUM_NODE} or newer: \`npm ci\` brings it, and bin/pawl finds it`,
  );
}

/** The configuration, or its problems. */
export function configFinding(input: ConfigInput): { config: Config | null; finding: Finding } {
  try {
    return { config: resolveConfig(input), finding: well('config', 'valid') };
  } catch (error) {
    const detail = (error as Error).message.replaceAll('\n', ' ');
    return { config: null, finding: unwell('config', detail, 'docs/configuration.md has every option') };
  }
}

const ELSEWHERE = 'choose another folder with --data (PAWL_DATABASE_DATA_DIR), or set DATABASE_URL';

export function folderFinding(folder: string): Finding {
  const place = nearestExisting(folder);
  const isNew = place !== resolve(folder);
  if (!statSync(place).isDirectory()) return unwell('folder', `${place} is a file`, ELSEWHERE);
  try {
    accessSync(place, constants.W_OK);
  } catch {
    return unwell('folder', `${place} cannot be written to by this account`, ELSEWHERE);
  }
  return well('folder', isNew ? `${folder} will be made at the first start` : folder);
}

export function diskFinding(folder: string): Finding {
  const place = nearestExisting(folder);
  const { bavail, bsize } = statfsSync(place);
  const free = bavail * bsize;
  const amount = `${(free / GIB).toFixed(1)} GiB free at ${place}`;
  return free >= GIB
    ? well('disk', amount)
    : unwell('disk', amount, 'free at least 1 GiB: a database needs room for its log');
}

function nearestExisting(folder: string): string {
  let place = resolve(folder);
  while (!existsSync(place)) place = dirname(place);
  return place;
}

export async function portFinding({ host, port }: { host: string; port: number }): Promise<Finding> {
  if (port === 0) return well('port', 'any free one');
  if (await isPortFree(host, port)) return well('port', `${port} of ${host} is free`);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (await isPawl(url)) return well('port', `${port} of ${host}: Pawl is running there, at ${url}`);
  return unwell(
    'port',
    `${port} of ${host} is taken by another program`,
    'stop it, or choose another with --port (PAWL_SERVER_PORT)',
  );
}

// The bill of materials that is published with the package (CycloneDX 1.6): every package that a user installs with it, as the
// lock file names it. Generated from the lock file alone, so that the same lock gives the same bytes.

export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

export interface LockFile {
  readonly name: string;
  readonly version: string;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

const FOLDER = 'node_modules/';

/** Installed third-party packages by name, without the workspaces of this repository. */
export const installedPackages = ({ packages }: LockFile): [name: string, entry: LockedPackage][] =>
  Object.entries(packages)
    .filter(([path, { link }]) => path.includes(FOLDER) && link !== true)
    .map(([path, entry]) => [path.slice(path.lastIndexOf(FOLDER) + FOLDER.length), entry]);

export function billOfMaterials(lock: LockFile): object {
  const shipped = installedPackages(lock).filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true);
  const components = shipped.map(([name, { version = '', integrity, license }]) => ({
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
  }));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name: lock.name, version: lock.version } },
    components,
  };
}

function hashOf(integrity: string): { alg: string; content: string } {
  const [algorithm = '', digest = ''] = integrity.split('-');
  return {
    alg: algorithm.toUpperCase().replace('SHA', 'SHA-'),
    content: Buffer.from(digest, 'base64').toString('hex'),
  };
}

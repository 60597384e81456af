// The files under deploy/, as far as they can be checked without running them: they parse, they have the required parts, every
// variable in them is an option, every command exists, and every path exists.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { mistypedVariables, optionReference, resolveConfig } from '../../src/config/config.ts';
import { pawl } from '../cli/dev-process.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const KUBERNETES = readdirSync(join(ROOT, 'deploy/kubernetes')).map((file) => `deploy/kubernetes/${file}`);

interface Container {
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext: object;
  readonly resources: { readonly requests: object; readonly limits: object };
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly path: string; readonly port: string } };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly resources?: readonly string[];
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly selector: Record<string, string> & { readonly matchLabels: Record<string, string> };
    readonly ports: readonly { readonly targetPort: string }[];
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string> };
      readonly spec: {
        readonly containers: readonly [Container];
        readonly securityContext: object;
        readonly terminationGracePeriodSeconds: number;
        readonly enableServiceLinks: boolean;
      };
    };
  };
}

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      { readonly command?: readonly string[]; readonly environment?: Record<string, string>; image: string }
    >
  >;
}

const manifests = KUBERNETES.flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => {
    expect(document.errors, file).toEqual([]);
    return document.toJS() as Manifest;
  }),
);
const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
const compose = parse(read('deploy/compose.yaml'), { merge: true }) as Compose;
const dockerfile = read('deploy/Dockerfile');

/** The variables that are set, by name. A variable that is set from outside has an empty value. */
const variables = (): Record<string, string> => {
  const names = [
    ...dockerfile.matchAll(/\b(PAWL_[A-Z_]+)=/g),
    ...read('deploy/pawl.service').matchAll(/\b(PAWL_[A-Z_]+)=/g),
  ];
  const inPods = [...ofKind('Deployment'), ...ofKind('Job')].flatMap(
    ({ spec }) => spec.template.spec.containers[0].env ?? [],
  );
  const inServices = Object.values(compose.services).flatMap(({ environment = {} }) => Object.keys(environment));
  const inSecrets = ofKind('Secret').flatMap(({ stringData = {} }) => Object.keys(stringData));
  const all = [...names.map(([, name]) => name!), ...inPods.map(({ name }) => name), ...inServices, ...inSecrets];
  return Object.fromEntries(all.map((name) => [name, '']));
};

describe('settings in the deployment files', () => {
  it('every variable in the deployment files is an option with a valid value', () => {
    const names = Object.keys(variables());
    expect(names).toEqual(
      expect.arrayContaining(['PAWL_PROBE_PORT', 'PAWL_ENGINE_NAME', 'PAWL_AUTH_JWKS_URL', 'DATABASE_URL']),
    );
    expect(mistypedVariables(variables())).toEqual([]);
    const [secret] = ofKind('Secret');
    expect(() => resolveConfig({}, secret!.stringData, null)).not.toThrow();
    const known = new Set(optionReference().map(({ variable }) => variable));
    for (const page of ['deployment', 'operations', 'security', 'migration', 'performance', 'observability']) {
      const named = [...read(`docs/${page}.md`).matchAll(/\bPAWL_[A-Z]+(?:_[A-Z]+)+\b/g)].map(([name]) => name);
      for (const name of named) expect(known.has(name), `${page}: ${name}`).toBe(true);
    }
  });

  it('the public URL is set for servers and for runners', () => {
    for (const name of ['server', 'runner']) {
      expect(compose.services[name]?.environment, name).toHaveProperty('PAWL_SERVER_PUBLIC_URL');
    }
    for (const { stringData } of ofKind('Secret')) expect(stringData).toHaveProperty('PAWL_SERVER_PUBLIC_URL');
    expect(read('deploy/pawl.service')).toContain('PAWL_SERVER_PUBLIC_URL');
  });

  it('every command in the deployment files exists, with its flags', async () => {
    const inPods = [...ofKind('Deployment'), ...ofKind('Job')].map(({ spec }) => spec.template.spec.containers[0].args);
    const inServices = Object.values(compose.services).flatMap(({ command }) =>
      command === undefined ? [] : [command],
    );
    const [, inUnit = ''] = /^ExecStart=\S+ (?:--\S+ )*\S+\/bin\/pawl (.*)$/m.exec(read('deploy/pawl.service')) ?? [];
    const [, byDefault = ''] = /^CMD \["(\w+)"\]$/m.exec(dockerfile) ?? [];
    const commands = new Set([...inPods, ...inServices, [inUnit], [byDefault]].map((words) => words.join(' ')));
    expect([...commands].sort()).toEqual(['migrate up', 'runner', 'serve', 'serve --no-runner']);
    for (const command of commands) {
      const { code, stdout } = await pawl({}, ...command.split(' '), '--help');
      expect({ command, code }).toEqual({ command, code: 0 });
      for (const flag of command.split(' ').filter((word) => word.startsWith('--'))) expect(stdout).toContain(flag);
    }
  });
});

/** The longest graceful stop with default settings; its parts follow each other. */
function longestStopSeconds(): number {
  const { server, engine, delivery } = resolveConfig({}, {}, null);
  return (server.stopDelayMs + server.shutdownMs + engine.drainMs + engine.abortGraceMs + delivery.drainMs) / 1_000;
}

describe('a graceful stop', () => {
  it.each([
    ['deploy/compose.yaml', /stop_grace_period: (\d+)s$/m],
    ['deploy/pawl.service', /^TimeoutStopSec=(\d+)$/m],
    ['docs/deployment.md', /The manifests\s+allow (\d+) s\b/],
  ])('a graceful stop has enough time in %s', (file, pattern) => {
    const [, seconds] = pattern.exec(read(file)) ?? [];
    expect(Number(seconds)).toBeGreaterThan(longestStopSeconds());
  });
});

describe('the Kubernetes manifests', () => {
  it('the manifests have a server, runners, a migration, a service, budgets and a secret', () => {
    const named = manifests.map(({ kind, metadata }) => `${kind} ${metadata?.name ?? ''}`.trim()).sort();
    expect(named).toEqual([
      'Deployment pawl-runner',
      'Deployment pawl-server',
      'HorizontalPodAutoscaler pawl-runner',
      'HorizontalPodAutoscaler pawl-server',
      'Job pawl-migrate',
      'Kustomization',
      'NetworkPolicy pawl-runner',
      'NetworkPolicy pawl-server',
      'PodDisruptionBudget pawl-runner',
      'PodDisruptionBudget pawl-server',
      'Secret pawl',
      'Service pawl',
    ]);
    const [{ resources = [] }] = ofKind('Kustomization') as [Manifest];
    for (const file of resources) expect(KUBERNETES).toContain(`deploy/kubernetes/${file}`);
  });

  it.each(ofKind('Deployment'))('$metadata.name is probed, limited, not root, and has time to finish', ({ spec }) => {
    const pod = spec.template.spec;
    const [container] = pod.containers;
    const ports = new Set(container.ports?.map(({ name }) => name));
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const) {
      const { path, port } = container[probe]!.httpGet;
      expect(['/health/ready', '/health/live']).toContain(path);
      expect(ports.has(port)).toBe(true);
    }
    const probePort = container.ports?.find(({ name }) => name === 'probe')?.containerPort;
    expect(container.env?.find(({ name }) => name === 'PAWL_PROBE_PORT')?.value).toBe(String(probePort));
    expect(container.resources).toMatchObject({ requests: expect.anything(), limits: expect.anything() });
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true });
    expect(container.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    });
    expect(pod.enableServiceLinks).toBe(false);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(longestStopSeconds());
    expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
  });

  it('the service sends requests to the port of the server', () => {
    const [service] = ofKind('Service');
    const server = ofKind('Deployment').find(({ metadata }) => metadata.name === 'pawl-server')!;
    expect(server.spec.template.metadata.labels).toMatchObject(service!.spec.selector);
    const port = server.spec.template.spec.containers[0].ports?.find(
      ({ name }) => name === service!.spec.ports[0]!.targetPort,
    );
    expect(port?.containerPort).toBe(resolveConfig({}, {}, null).server.port);
  });
});

describe('the image', () => {
  it('the image is made of existing files, runs as a user and has a health check', () => {
    const ignored = read('deploy/Dockerfile.dockerignore').split('\n');
    const kept = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const entries = new Set(readdirSync(ROOT));
    for (const name of kept) expect(entries.has(name), name).toBe(true);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const [, script] of dockerfile.matchAll(/npm run (\w+)/g)) expect(Object.keys(scripts)).toContain(script);
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(last).toMatch(/^USER node$/m);
    expect(last).toMatch(/^HEALTHCHECK /m);
    expect(last.indexOf('USER node')).toBeLessThan(last.indexOf('ENTRYPOINT'));
  });

  it('the compose file runs the image, and waits for the database', () => {
    const { postgres, migrate, server, runner } = compose.services;
    expect(postgres?.image).toMatch(/^postgres:\d+/);
    for (const service of [migrate, server, runner]) expect(service?.image).toBe('pawl');
    expect(runner).toMatchObject({ deploy: { replicas: 2 }, depends_on: { migrate: expect.anything() } });
  });
});

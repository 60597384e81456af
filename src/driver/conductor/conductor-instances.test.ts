import { expect, test } from 'vitest';
import { ConductorInstances } from './conductor-instances.ts';

const instances = new ConductorInstances({
  url: 'http://main:8080/',
  instances: { eu: 'https://eu.example', same: 'http://main:8080' },
  byEnvironment: { prod: 'eu', stage: 'same' },
});

test('an environment uses the server of its name, and all others use the first one', () => {
  expect(['prod', 'stage', 'dev'].map((environmentId) => instances.of(environmentId).url)).toEqual([
    'https://eu.example',
    'http://main:8080',
    'http://main:8080',
  ]);
});

test('two names of one server are one server', () => {
  expect(instances.all.map(({ url }) => url)).toEqual(['http://main:8080', 'https://eu.example']);
});

test('a run is looked up on its own server, and a server no longer configured is named in the error', () => {
  expect(instances.at('https://eu.example')).toBe(instances.of('prod'));
  expect(instances.at(undefined)).toBe(instances.first);
  expect(() => instances.at('http://gone')).toThrow(/http:\/\/gone, which is not configured here. Add it to conductor/);
});

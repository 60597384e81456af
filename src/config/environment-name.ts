// Maps environment variables to options: PAWL_ and the option's path in upper case, and the names that platforms and other tools
// use. An unknown variable that resembles one of ours is probably a typing mistake.

import { nearMiss } from '../core/problem/near-miss.ts';
import { SECTIONS } from './option-section.ts';

export function variableName(section: string, option: string): string {
  return `PAWL_${section}_${option.replace(/[A-Z]/g, (letter) => `_${letter}`)}`.toUpperCase();
}

/** Our own variable wins, then the first of these that is set. */
export const ALIASES: readonly { variable: string; name: string; value?: (text: string) => string }[] = [
  { variable: 'DATABASE_URL', name: 'database.url' },
  { variable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', name: 'trace.endpoint' },
  {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    name: 'trace.endpoint',
    value: (base) => `${base.replace(/\/+$/, '')}/v1/traces`,
  },
  { variable: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', name: 'trace.headers' },
  { variable: 'OTEL_EXPORTER_OTLP_HEADERS', name: 'trace.headers' },
  { variable: 'OTEL_SERVICE_NAME', name: 'trace.serviceName' },
];

/** Variables of ours that are not options of a server. */
const PREFERENCES = ['PAWL_URL', 'PAWL_TOKEN', 'PAWL_DEBUG', 'PAWL_CONFIG'];
/** Set by Kubernetes for a service called pawl. */
const SERVICE_LINK = /^PAWL_(SERVICE_|PORT$|PORT_)/;
/** The settings of our own tests. */
const TEST_SETTING = /^PAWL_TEST_/;

export function variableNames(): string[] {
  return Object.entries(SECTIONS).flatMap(([section, { shape }]) =>
    Object.keys(shape).map((option) => variableName(section, option)),
  );
}

export interface UnknownVariable {
  readonly variable: string;
  readonly didYouMean?: string;
}

export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): UnknownVariable[] {
  const known = [...variableNames(), ...PREFERENCES];
  return Object.keys(environment)
    .filter((name) => name.startsWith('PAWL_') && !known.includes(name))
    .filter((name) => !SERVICE_LINK.test(name) && !TEST_SETTING.test(name))
    .map((variable) => {
      const near = nearMiss(variable, known);
      return near === undefined ? { variable } : { variable, didYouMean: near };
    });
}

// Which environment variable stands for which option: PAWL_ and its path in upper case, and the names that platforms and other
// tools have for options of ours. A variable that looks like one of ours and is none was probably meant to be.

import { nearMiss } from '../core/problem/near-miss.ts';
import { SECTIONS } from './option-section.ts';

export function variableName(section: string, option: string): string {
  return `PAWL_${section}_${option.replace(/[A-Z]/g, (letter) => `_${letter}`)}`.toUpperCase();
}

/** Ours counts first, then the first of these that is set. */
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

/** Ours too, but not options of a server. */
const PREFERENCES = ['PAWL_URL', 'PAWL_TOKEN', 'PAWL_DEBUG', 'PAWL_CONFIG'];
/** What Kubernetes sets for a service that is called pawl. */
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

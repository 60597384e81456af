// Upgrades execution plans from schema version 1 to 2, where nothing else has to change. In version 2 the output of every step is
// a StepOutput, so a plan that reads outputs would read something else. Such a plan is refused, with every place that reads one.

import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { Findings, type Problem } from '../problem/problem.ts';
import { listIn, objectIn } from './json-read.ts';

export type UpgradeResult =
  | { readonly ok: true; readonly plan: JsonObject }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function upgradePlan(plan: JsonObject): UpgradeResult {
  const findings = new Findings();
  const metadata = objectIn(plan.metadata);
  if (metadata.schemaVersion !== 'v1') {
    findings.error('NOT_ALLOWED', '/metadata/schemaVersion', 'only plans of schema version v1 can be upgraded');
  }
  listIn(plan.steps).forEach((value, index) => {
    const { when, foreach, inputs } = objectIn(value);
    const at = `/steps/${index}`;
    for (const [key, dynamic] of Object.entries({ when, foreach })) {
      if (dynamic !== undefined) findings.error('NOT_SIMPLE', `${at}/${key}`, `\`${key}\` reads outputs`, BY_HAND);
    }
    for (const place of readersIn(inputs, `${at}/inputs`)) {
      findings.error('NOT_SIMPLE', place, 'this reads the output of a step', BY_HAND);
    }
  });
  if (findings.hasErrors) return { ok: false, problems: findings.problems() };
  const upgraded: JsonObject = { ...plan, metadata: { ...metadata, schemaVersion: 'v2' } };
  if (plan.schemaVersion !== undefined) upgraded.schemaVersion = 'v2';
  return { ok: true, plan: upgraded };
}

const BY_HAND =
  'in v2 outputs of ordinary actions are in `output.metadata`: write the new path, and set the version yourself';

function readersIn(value: Json | undefined, at: string): string[] {
  if (typeof value === 'string') return /\{\{[\s\S]*\bsteps\b/.test(value) ? [at] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => readersIn(item, `${at}/${index}`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => readersIn(member, `${at}/${key}`));
}

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json/json.ts';
import { plan, step } from './definition.testing.ts';
import { upgradePlan as upgraded } from './plan-upgrade.ts';

const upgradePlan = (given: object) => upgraded(given as JsonObject);

describe('upgrading a plan to schema version 2', () => {
  it('an upgrade changes the version and nothing else', () => {
    const given = plan([step('a', { inputs: { list: [1, null], text: '{{ scope.repoSha }}' } })], {
      schemaVersion: 'v1',
    });
    const result = upgradePlan(given);
    expect(result).toEqual({
      ok: true,
      plan: { ...given, schemaVersion: 'v2', metadata: { ...(given.metadata as object), schemaVersion: 'v2' } },
    });
    expect(upgradePlan(plan([step('a')]))).toMatchObject({ ok: true, plan: { metadata: { schemaVersion: 'v2' } } });
  });

  it('an upgrade is refused where outputs are read, and names every place', () => {
    const reader = step('b', {
      dependsOn: ['a'],
      inputs: { deep: [{ rows: '{{ steps.a.output.rows }}' }] },
      when: { expression: 'true' },
      foreach: { from: 'a.output.list' },
    });
    const result = upgradePlan(plan([step('a'), reader]));
    expect(!result.ok && result.problems.map(({ code, path }) => `${code} ${path}`).toSorted()).toEqual([
      'NOT_SIMPLE /steps/1/foreach',
      'NOT_SIMPLE /steps/1/inputs/deep/0/rows',
      'NOT_SIMPLE /steps/1/when',
    ]);
  });

  it('an upgrade of a plan that is not version 1 is refused', () => {
    expect(upgradePlan({ metadata: { schemaVersion: 'v2' }, steps: [] })).toMatchObject({ ok: false });
  });
});

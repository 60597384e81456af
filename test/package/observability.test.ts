// Alerts and dashboards under deploy/ use only metrics that a server exposes, and every alert names a runbook that exists.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { useServer } from '../server/api-server.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const server = useServer({});

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string; readonly runbook: string };
    }[];
  }[];
}

interface Dashboard {
  readonly title: string;
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

/** Names in an expression that are not functions, labels or keywords. */
function metricsIn(expr: string): string[] {
  const bare = expr.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)|"[^"]*"/g, ' ');
  return [...bare.matchAll(/\b[a-z][a-z_]*_[a-z_]+\b(?! ?\()/g)].map(([name]) => name);
}

const family = (name: string) => name.replace(/_(bucket|count|sum)$/, '');

let exposed: Set<string>;
beforeAll(async () => {
  const { body } = await server.get('/metrics');
  exposed = new Set([...String(body).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
});

describe('deploy/prometheus', () => {
  const { groups } = parse(read('deploy/prometheus/rules.yaml')) as Rules;
  const rules = groups.flatMap((group) => group.rules);

  it('every alert uses metrics that exist', () => {
    expect(rules.length).toBeGreaterThan(5);
    for (const { alert, expr } of rules) {
      const names = metricsIn(expr);
      expect({ alert, found: names.length > 0, missing: names.filter((name) => !exposed.has(family(name))) }).toEqual({
        alert,
        found: true,
        missing: [],
      });
    }
  });

  it('every alert has a severity and a runbook that exists', () => {
    for (const { labels, annotations } of rules) {
      expect(labels.severity).toMatch(/^sev[0-3]$/);
      expect(existsSync(join(ROOT, annotations.runbook)), annotations.runbook).toBe(true);
    }
  });
});

describe('deploy/grafana', () => {
  it.each(readdirSync(join(ROOT, 'deploy/grafana')))('the Grafana dashboard %s uses metrics that exist', (file) => {
    const { panels } = JSON.parse(read(`deploy/grafana/${file}`)) as Dashboard;
    const names = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr)));
    expect(names.length).toBeGreaterThanOrEqual(panels.length);
    expect(names.filter((name) => !exposed.has(family(name)))).toEqual([]);
  });
});

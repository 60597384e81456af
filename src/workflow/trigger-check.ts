// Checks whether a payload may start a version of a workflow, by the version's `triggerSchema`, which is read once and cached.

import { RecentCache } from '../core/cache/recent-cache.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { isJsonObject, type Json } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { WorkflowStore } from '../store/port.ts';
import type { SchemaCheck, ValueCheck } from './schema-check.ts';

interface Version {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly version: number;
}

const MAX_BYTES = 32 * 1024 * 1024;
const BYTES_PER_CHECK = 200;

export class TriggerCheck {
  private readonly store: WorkflowStore;
  private readonly schemas: SchemaCheck;
  /** By version; null: any payload is fine. */
  private readonly checks = new RecentCache<ValueCheck | null>(MAX_BYTES);
  /** Thousands may start a new version in one moment: they share the reading of its schema. */
  private readonly reading = new Map<string, Promise<ValueCheck | null>>();

  constructor(store: WorkflowStore, schemas: SchemaCheck) {
    this.store = store;
    this.schemas = schemas;
  }

  /** Throws TRIGGER_INVALID with all problems, or WORKFLOW_NOT_FOUND. */
  async check(version: Version, trigger: Json, text: string): Promise<void> {
    const key = JSON.stringify([version.tenantId, version.workflowId, version.version]);
    const known = this.checks.get(key);
    const check = known === undefined ? await this.sharedCheckOf(version, key) : known;
    if (check === null) return;
    const problems = await check(trigger, text, version);
    if (problems.length === 0) return;
    const [{ path, message }] = problems as [Problem];
    throw new PawlError(
      'TRIGGER_INVALID',
      `the trigger does not match the triggerSchema: ${path === '' ? '' : `${path} `}${message}`,
      problems,
    );
  }

  private sharedCheckOf(version: Version, key: string): Promise<ValueCheck | null> {
    const reading = this.reading.get(key) ?? this.checkOf(version, key).finally(() => this.reading.delete(key));
    this.reading.set(key, reading);
    return reading;
  }

  private async checkOf(version: Version, key: string): Promise<ValueCheck | null> {
    const row = await this.store.definitionGet(version);
    if (row === null) {
      throw new PawlError('WORKFLOW_NOT_FOUND', `workflow "${version.workflowId}" has no version ${version.version}`);
    }
    const definition = JSON.parse(row.definition) as Json;
    const schema = isJsonObject(definition) ? definition.triggerSchema : undefined;
    const check = isJsonObject(schema) ? this.schemas.valueCheck(schema) : null;
    const bytes = BYTES_PER_CHECK + (check === null ? 0 : JSON.stringify(schema).length * 10);
    this.checks.set(key, check, bytes);
    return check;
  }
}

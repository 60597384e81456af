// Whether a payload may start a version of a workflow: by the version's `triggerSchema`, read once and kept.

import type { Problem } from '../../core/definition/problem.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { isJsonObject, type Json } from '../../core/json/json.ts';
import type { WorkflowStore } from '../../store/port.ts';
import type { SchemaCheck, ValueCheck } from './schema-check.ts';

interface Version {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly version: number;
}

const CAPACITY = 1_000;

export class TriggerCheck {
  private readonly store: WorkflowStore;
  private readonly schemas: SchemaCheck;
  /** By version; null: any payload will do. */
  private readonly checks = new Map<string, ValueCheck | null>();

  constructor(store: WorkflowStore, schemas: SchemaCheck) {
    this.store = store;
    this.schemas = schemas;
  }

  /** Throws TRIGGER_INVALID with every problem; WORKFLOW_NOT_FOUND when there is no such version. */
  async check(version: Version, trigger: Json, text: string): Promise<void> {
    const key = JSON.stringify([version.tenantId, version.workflowId, version.version]);
    const check = this.checks.has(key) ? this.checks.get(key)! : await this.checkOf(version, key);
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

  private async checkOf(version: Version, key: string): Promise<ValueCheck | null> {
    const row = await this.store.definitionGet(version);
    if (row === null) {
      throw new PawlError('WORKFLOW_NOT_FOUND', `workflow "${version.workflowId}" has no version ${version.version}`);
    }
    const definition = JSON.parse(row.definition) as Json;
    const schema = isJsonObject(definition) ? definition.triggerSchema : undefined;
    const check = isJsonObject(schema) ? this.schemas.valueCheck(schema) : null;
    this.checks.set(key, check);
    if (this.checks.size > CAPACITY) this.checks.delete(this.checks.keys().next().value!);
    return check;
  }
}

// Whether a payload may start a version of a workflow: by the version's `triggerSchema`, compiled once and kept.

import { compileSuppliedSchema, type SuppliedSchema } from '../action/supplied-schema.ts';
import type { Problem } from '../core/definition/problem.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { isJsonObject, type Json } from '../core/json/json.ts';
import type { WorkflowStore } from '../store/port.ts';

interface Version {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly version: number;
}

const CAPACITY = 1_000;
const ANYTHING: SuppliedSchema = () => [];

export class TriggerCheck {
  private readonly store: WorkflowStore;
  private readonly schemas = new Map<string, SuppliedSchema>();

  constructor(store: WorkflowStore) {
    this.store = store;
  }

  /** Throws TRIGGER_INVALID with every problem; WORKFLOW_NOT_FOUND when there is no such version. */
  async check(version: Version, trigger: Json): Promise<void> {
    const problems = (await this.schemaOf(version))(trigger);
    if (problems.length === 0) return;
    const [{ path, message }] = problems as [Problem];
    throw new PawlError(
      'TRIGGER_INVALID',
      `the trigger does not match the triggerSchema: ${path} ${message}`,
      problems,
    );
  }

  private async schemaOf(version: Version): Promise<SuppliedSchema> {
    const key = JSON.stringify([version.tenantId, version.workflowId, version.version]);
    const known = this.schemas.get(key);
    if (known !== undefined) return known;
    const row = await this.store.definitionGet(version);
    if (row === null) {
      throw new PawlError('WORKFLOW_NOT_FOUND', `workflow "${version.workflowId}" has no version ${version.version}`);
    }
    const schema = schemaIn(JSON.parse(row.definition) as Json);
    this.schemas.set(key, schema);
    if (this.schemas.size > CAPACITY) this.schemas.delete(this.schemas.keys().next().value!);
    return schema;
  }
}

function schemaIn(definition: Json): SuppliedSchema {
  const schema = isJsonObject(definition) ? definition.triggerSchema : undefined;
  if (!isJsonObject(schema)) return ANYTHING;
  try {
    return compileSuppliedSchema(schema);
  } catch (error) {
    const problem = {
      code: 'SCHEMA_INVALID',
      path: '',
      message: `triggerSchema is not valid: ${(error as Error).message}`,
    };
    return () => [problem];
  }
}

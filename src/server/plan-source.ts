// Plans by reference (004 §3.1): fetched, then checked for size, expiry and integrity before anything parses them. `file:` only
// below a folder that the operator names; `pawl:workflows/{id}/versions/{n}` is a version that we hold ourselves.

import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { PawlError } from '../core/error/pawl-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import type { PlanRef } from '../protocol/engine-run.ts';
import type { WorkflowStore } from '../store/port.ts';

export interface PlanSourceOptions {
  readonly store: WorkflowStore;
  readonly folder: string | undefined;
  readonly maxBytes: number;
}

const OWN_PLAN = /^pawl:workflows\/([\w.-]{1,200})\/versions\/(\d{1,9})$/;

export async function fetchPlan(
  options: PlanSourceOptions,
  tenantId: string,
  ref: PlanRef,
  now: Date,
): Promise<JsonObject> {
  const { maxBytes } = options;
  if (ref.expiresAt !== undefined && Date.parse(ref.expiresAt) <= now.getTime()) refuse('the reference has expired');
  if ((ref.sizeBytes ?? 0) > maxBytes) refuse(`the plan is larger than ${maxBytes} bytes`);
  const bytes = await bytesAt(options, tenantId, ref.uri);
  if (ref.sizeBytes !== undefined && bytes.length !== ref.sizeBytes)
    refuse('the plan does not have the size that was promised');
  if (createHash('sha256').update(bytes).digest('hex') !== ref.sha256)
    refuse('the plan does not have the sha256 that was promised');
  const plan = parsePlan(ref.compression === 'gzip' ? unzip(bytes, maxBytes) : bytes);
  const { planId, planVersion } = isJsonObject(plan.metadata) ? plan.metadata : {};
  if (planId !== ref.planId || planVersion !== ref.planVersion) refuse('the plan has another planId or planVersion');
  return plan;
}

async function bytesAt(options: PlanSourceOptions, tenantId: string, uri: string): Promise<Buffer> {
  const [, workflowId, version] = OWN_PLAN.exec(uri) ?? [];
  if (workflowId !== undefined) {
    const row = await options.store.definitionGet({ tenantId, workflowId, version: Number(version) });
    return row === null ? refuse(`there is no ${uri}`) : Buffer.from(row.definition);
  }
  if (uri.startsWith('file:')) return fileBytes(options, uri);
  return refuse('only `file:` and `pawl:` references can be fetched');
}

async function fileBytes({ folder, maxBytes }: PlanSourceOptions, uri: string): Promise<Buffer> {
  if (folder === undefined) refuse('`file:` references need the option server.planFolder');
  const path = await allowedPath(folder, uri);
  const bytes = await readFile(path).catch(() => refuse('the plan cannot be read'));
  return bytes.length > maxBytes ? refuse(`the plan is larger than ${maxBytes} bytes`) : bytes;
}

/** After links are followed, so that none leads out of the folder. */
async function allowedPath(folder: string, uri: string): Promise<string> {
  const root = await realpath(folder).catch(() => refuse('the folder of plans cannot be read'));
  let path: string;
  try {
    path = await realpath(fileURLToPath(uri));
  } catch {
    return refuse('there is no such plan');
  }
  return path.startsWith(root + sep) ? path : refuse('there is no such plan');
}

function unzip(bytes: Buffer, maxOutputLength: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength });
  } catch {
    return refuse(`the plan is not gzip, or larger than ${maxOutputLength} bytes`);
  }
}

function parsePlan(bytes: Buffer): JsonObject {
  try {
    const plan = JSON.parse(bytes.toString('utf8')) as Json;
    if (isJsonObject(plan)) return plan;
  } catch {
    // Said below.
  }
  return refuse('the plan is not a JSON object');
}

function refuse(message: string): never {
  throw new PawlError('PLAN_UNAVAILABLE', message);
}

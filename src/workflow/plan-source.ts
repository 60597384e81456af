// Reads plans behind references, and checks their size and digest before parsing. `file:` only below the operator's folder;
// `pawl:workflows/{id}/versions/{n}` is one of our own versions; `https:` and `s3:` are elsewhere. A passing failure is tried
// three times, then the fallback address is used.

import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { PawlError } from '../core/error/pawl-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts';
import type { PlanRef } from '../protocol/engine-run.ts';
import type { WorkflowStore } from '../store/port.ts';

export interface PlanSourceOptions {
  readonly store: WorkflowStore;
  readonly folder: string | undefined;
  readonly maxBytes: number;
  /** Absent: only local plans can be read. */
  readonly readRemote?: ReadRemotePlan | undefined;
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** Reads `https:` and `s3:`. Rejects with a PawlError when another try is pointless. */
export type ReadRemotePlan = (uri: URL, maxBytes: number) => Promise<Buffer>;

const TRIES = 3;
const FIRST_PAUSE_MS = 250;

const OWN_PLAN = /^pawl:workflows\/([\w.-]{1,200})\/versions\/(\d{1,9})$/;

export interface ReadPlan {
  readonly plan: JsonObject;
  /** As stored, perhaps compressed. */
  readonly sizeBytes: number;
  /** In memory. */
  readonly heldBytes: number;
}

export async function readPlan(options: PlanSourceOptions, tenantId: string, ref: PlanRef): Promise<ReadPlan> {
  const { maxBytes } = options;
  if ((ref.sizeBytes ?? 0) > maxBytes) refuse(`the plan is larger than ${maxBytes} bytes`);
  const { bytes, checksum } = await foundBytes(options, tenantId, ref);
  checkSize(ref, bytes.length);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== ref.sha256 && checksum !== ref.sha256) refuse('the plan does not have the sha256 that was promised');
  const text = ref.compression === 'gzip' ? await unzip(bytes, maxBytes) : bytes;
  return { plan: parsePlan(text), sizeBytes: bytes.length, heldBytes: text.length };
}

export function checkSize({ sizeBytes }: PlanRef, actual: number): void {
  if (sizeBytes !== undefined && sizeBytes !== actual) refuse('the plan does not have the size that was promised');
}

interface Found {
  readonly bytes: Buffer;
  /** For one of our own versions: the checksum from its list, which a reference may use instead of a digest. */
  readonly checksum?: string;
}

async function foundBytes(options: PlanSourceOptions, tenantId: string, ref: PlanRef): Promise<Found> {
  try {
    return await bytesAt(options, tenantId, ref.uri);
  } catch (error) {
    if (ref.fallbackUri === undefined) throw error;
    return bytesAt(options, tenantId, ref.fallbackUri);
  }
}

async function remoteBytes({ readRemote, maxBytes, pause = sleep }: PlanSourceOptions, uri: string): Promise<Buffer> {
  if (readRemote === undefined) refuse('only `file:` and `pawl:` references can be fetched here');
  for (let attempt = 1; ; attempt++) {
    try {
      const bytes = await readRemote(new URL(uri), maxBytes);
      return bytes.length > maxBytes ? refuse(`the plan is larger than ${maxBytes} bytes`) : bytes;
    } catch (error) {
      if (error instanceof PawlError) throw error;
      if (attempt === TRIES) throw new PlanUnreachableError(error as Error);
      await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2));
    }
  }
}

/** The plan could not be read after all tries, so the run that asked for it has failed. */
export class PlanUnreachableError extends PawlError {
  constructor(cause: Error) {
    super('PLAN_UNAVAILABLE', `the plan could not be fetched in ${TRIES} tries: ${cause.message}`);
  }
}

const REMOTE = /^(https?|s3):\/\/./;

async function bytesAt(options: PlanSourceOptions, tenantId: string, uri: string): Promise<Found> {
  const [, workflowId, version] = OWN_PLAN.exec(uri) ?? [];
  if (workflowId !== undefined) {
    const row = await options.store.definitionGet({ tenantId, workflowId, version: Number(version) });
    if (row === null) refuse(`there is no ${uri}`);
    return { bytes: Buffer.from(row.definition), checksum: row.checksum };
  }
  if (uri.startsWith('file:')) return { bytes: await fileBytes(options, uri) };
  if (uri.startsWith('pawl:')) refuse('a plan of ours is `pawl:workflows/{id}/versions/{n}`');
  if (REMOTE.test(uri) && URL.canParse(uri)) return { bytes: await remoteBytes(options, uri) };
  return refuse('only `https:`, `s3:`, `file:` and `pawl:` references can be fetched');
}

async function fileBytes({ folder, maxBytes }: PlanSourceOptions, uri: string): Promise<Buffer> {
  if (folder === undefined) refuse('`file:` references need the option server.planFolder');
  const path = await allowedPath(folder, uri);
  const unreadable = () => refuse('the plan cannot be read');
  const found = await stat(path).catch(unreadable);
  // Reading a pipe would wait for its writer, and block a thread that all file reads share.
  if (!found.isFile()) refuse('there is no such plan');
  if (found.size > maxBytes) refuse(`the plan is larger than ${maxBytes} bytes`);
  return readFile(path).catch(unreadable);
}

/** Checked after following links, so that none leads out of the folder. */
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

const inflate = promisify(gunzip);

function unzip(bytes: Buffer, maxOutputLength: number): Promise<Buffer> {
  const refusal = () => refuse(`the plan is not gzip, or larger than ${maxOutputLength} bytes`);
  return inflate(bytes, { maxOutputLength }).catch(refusal);
}

function parsePlan(bytes: Buffer): JsonObject {
  try {
    const plan = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Json;
    if (isJsonObject(plan) && !isDeeperThan(plan, MAX_DEPTH)) return plan;
  } catch {
    // The refusal follows below.
  }
  return refuse(`the plan is not a JSON object in UTF-8, nested at most ${MAX_DEPTH} levels deep`);
}

/** The same limit as for request bodies. */
const MAX_DEPTH = 64;

function isDeeperThan(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member!, levels - 1));
}

export function refuse(message: string): never {
  throw new PawlError('PLAN_UNAVAILABLE', message);
}

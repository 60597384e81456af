// The body of a webhook as its workflow sees it, by what the sender says it is: JSON, a form, or text. It is read after the sender
// was proven, from the very bytes that were signed. Bytes that are no text become `{ contentType, base64 }`: nothing is lost.

import { isUtf8 } from 'node:buffer';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import { jsonTextOf, readJsonBody } from './json-body.ts';

const FORM = /^application\/x-www-form-urlencoded\b/i;
const MULTIPART = /^multipart\/form-data\b/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;

export async function readWebhookBody(bytes: Buffer, contentType = ''): Promise<Json> {
  if (bytes.length === 0) return '';
  if (/json/i.test(contentType)) return readJsonBody(jsonTextOf(bytes, contentType)) as Json;
  if (FORM.test(contentType))
    return fieldsOf(new URLSearchParams(textOf(bytes, contentType) ?? refuse('is not UTF-8')));
  if (MULTIPART.test(contentType)) return fieldsOf(await multipart(bytes, contentType));
  const text = textOf(bytes, contentType);
  return text === null ? { contentType, base64: bytes.toString('base64') } : jsonOr(text);
}

/** Senders of interactive messages and GitHub's forms put JSON into one field. */
export function withPayload(body: Json): JsonObject | null {
  const payload = typeof body === 'object' && body !== null && !Array.isArray(body) ? body.payload : undefined;
  if (typeof payload !== 'string' || !/^\s*\{/.test(payload)) return null;
  return { ...(body as JsonObject), payload: readJsonBody(payload) as Json };
}

/** Null: the bytes are no text. */
function textOf(bytes: Buffer, contentType: string): string | null {
  const charset = CHARSET.exec(contentType)?.[1] ?? 'utf-8';
  if (/^utf-?8$/i.test(charset)) return isUtf8(bytes) ? bytes.toString('utf8') : null;
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Whatever is JSON is read as JSON, also when the sender did not say so. */
function jsonOr(text: string): Json {
  try {
    return readJsonBody(text) as Json;
  } catch {
    return text;
  }
}

async function multipart(bytes: Buffer, contentType: string): Promise<[string, Json][]> {
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => refuse('is not multipart/form-data'));
  return Promise.all(
    [...form].map(async ([name, value]) => [name, typeof value === 'string' ? value : await fileOf(value)]),
  );
}

async function fileOf(file: File): Promise<Json> {
  const bytes = Buffer.from(await file.arrayBuffer());
  const text = isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') };
  return { filename: file.name, contentType: file.type, sizeBytes: bytes.length, ...text };
}

/** A field that comes more than once is a list. */
function fieldsOf(entries: Iterable<[string, Json]>): JsonObject {
  const fields: JsonObject = {};
  for (const [name, value] of entries) {
    if (name === '__proto__') refuse('has a field named __proto__');
    const before = Object.hasOwn(fields, name) ? fields[name] : undefined;
    fields[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
  }
  return fields;
}

function refuse(problem: string): never {
  throw new PawlError('REQUEST_INVALID', `the body ${problem}`);
}

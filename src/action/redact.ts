// Redacts an attempt's secrets from everything that is kept of it: outputs, error messages, resource links and log lines (S6). A
// secret is found as it is, inside JSON text, percent-encoded, form-encoded, in hex, and in base64, also in the middle of a
// longer encoded text, where it can begin at any of three offsets.

import type { ArtifactContent } from '../artifact/artifacts.ts';
import type { Json } from '../core/json/json.ts';
import type { Credentials } from './action.ts';

export const REDACTED = '[redacted]';

/** Shorter secrets are only looked for as they are: their encoded forms would match everywhere. */
const ENCODED_FROM = 6;
const NONE: readonly string[] = [];

export class Redactor {
  #secrets: readonly string[];

  constructor(secrets: readonly string[] = NONE) {
    this.#secrets = formsOfAll(secrets);
  }

  add(secret: string): void {
    if (secret === '') return;
    this.#secrets = longestFirst([...this.#secrets, ...formsOf(secret)]);
  }

  redact(text: string): string {
    let redacted = text;
    for (const secret of this.#secrets) redacted = redacted.replaceAll(secret, REDACTED);
    return redacted;
  }

  /** Text, bytes or a stream; returned unchanged when there is no secret to look for. */
  redactContent(content: ArtifactContent): ArtifactContent {
    if (this.#secrets.length === 0) return content;
    if (typeof content === 'string') return this.redact(content);
    return this.#redactedChunks(content instanceof Uint8Array ? [content] : content);
  }

  /** Bytes are compared as Latin-1, one character each. A secret may be split between two chunks. */
  async *#redactedChunks(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const secrets = this.#secrets.map((secret) => Buffer.from(secret).toString('latin1'));
    const held = Math.max(...secrets.map(({ length }) => length)) - 1;
    let rest = '';
    for await (const chunk of chunks) {
      rest += Buffer.from(chunk).toString('latin1');
      for (const secret of secrets) rest = rest.replaceAll(secret, REDACTED);
      const end = Math.max(0, rest.length - held);
      yield Buffer.from(rest.slice(0, end), 'latin1');
      rest = rest.slice(end);
    }
    yield Buffer.from(rest, 'latin1');
  }

  /** JSON text and its value, free of secrets; the same text when there were none. */
  redactJson(text: string): string {
    if (!this.#secrets.some((secret) => text.includes(secret))) return text;
    return JSON.stringify(this.#value(JSON.parse(text) as Json));
  }

  /** Numbers too: an action may have read a secret as a number. */
  #value(value: Json): Json {
    if (typeof value === 'string') return this.redact(value);
    if (typeof value === 'number') return this.#secrets.includes(String(value)) ? REDACTED : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.#value(item));
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [this.redact(key), this.#value(member)]));
  }
}

/** Of the list of a credential, which one attempt after the other is handed. They go when the credential goes. */
const known = new WeakMap<readonly string[], readonly string[]>();

function formsOfAll(secrets: readonly string[]): readonly string[] {
  const before = known.get(secrets);
  if (before !== undefined) return before;
  const forms = longestFirst(secrets.flatMap((secret) => (secret === '' ? [] : [...formsOf(secret)])));
  known.set(secrets, forms);
  return forms;
}

/** Longest first, because one secret may contain another. */
const longestFirst = (forms: readonly string[]): string[] => [...new Set(forms)].sort((a, b) => b.length - a.length);

function formsOf(secret: string): Set<string> {
  const whole = secret.toWellFormed();
  const plain = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(whole), formEncoded(whole)]);
  if (secret.length < ENCODED_FROM) return plain;
  const bytes = Buffer.from(whole);
  const encoded = [0, 1, 2].flatMap((shift) => base64Within(bytes, shift));
  const hex = bytes.toString('hex');
  return new Set([...plain, ...encoded, hex, hex.toUpperCase()].filter((form) => form !== ''));
}

const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

/** The invariant part of the bytes in base64 when `shift` bytes (modulo 3) precede them, whatever the neighbours are. */
function base64Within(bytes: Buffer, shift: number): string[] {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const first = shift === 0 ? 0 : shift + 1;
  const isCut = (bytes.length + shift) % 3 !== 0;
  const inner = text.slice(first, isCut ? text.length - 1 : text.length);
  return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
}

/** The same credentials, with every token that is handed out known to the redactor. */
export function watchCredentials(credentials: Credentials, redactor: Redactor): Credentials {
  return {
    token(connectorId) {
      const token = credentials.token(connectorId);
      if (token !== undefined) redactor.add(token);
      return token;
    },
  };
}

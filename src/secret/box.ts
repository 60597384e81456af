// Seals the secrets that we store ourselves: AES-256-GCM, with the id of the key beside the text. Several keys may be known at
// once, so that a new one can take over during operation: the first seals, each opens what it sealed. A sealed text is bound to
// its place (`context`): moved to another row, it does not open (S1, S6).

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { isSealedText, SEALED_PREFIX } from '../protocol/webhook-secret.ts';

export interface Sealed {
  readonly keyId: string;
  readonly bytes: Buffer;
}

export interface SealKey {
  readonly id: string;
  readonly key: Buffer;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** The generated key of an installation without a configured one. It is stored in the database beside the data it seals. */
export const DATABASE_KEY_ID = 'database';

/** The text was sealed with a key that this process does not have, or was changed since. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

export class Box {
  private readonly keys: ReadonlyMap<string, Buffer>;
  /** Seals new secrets. */
  readonly primary: SealKey;

  constructor(keys: readonly [SealKey, ...SealKey[]]) {
    this.primary = keys[0];
    this.keys = new Map(keys.map(({ id, key }) => [id, key]));
  }

  /** false: anybody who reads the whole database can open the sealed texts. */
  get hasOwnKey(): boolean {
    return this.primary.id !== DATABASE_KEY_ID;
  }

  /** The prefix of texts sealed with the first key. */
  get textPrefix(): string {
    return `${SEALED_PREFIX}${this.primary.id}:`;
  }

  seal(text: string, context: string): Sealed {
    return this.sealWith(randomBytes(NONCE_BYTES), text, context);
  }

  private sealWith(nonce: Buffer, text: string, context: string): Sealed {
    const cipher = createCipheriv('aes-256-gcm', this.primary.key, nonce).setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return { keyId: this.primary.id, bytes: Buffer.concat([nonce, cipher.getAuthTag(), body]) };
  }

  open({ keyId, bytes }: Sealed, context: string): string {
    const key = this.keys.get(keyId);
    if (key === undefined) {
      throw new SealError(
        `a secret was sealed with the key "${keyId}", which is not among secret.keys of this process`,
      );
    }
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context)).setAuthTag(tag);
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
        'utf8',
      );
    } catch {
      throw new SealError(
        `a secret that was sealed with the key "${keyId}" does not open: another key has this id, or it was changed`,
      );
    }
  }

  /**
   * For text columns. The same text in the same place gives the same sealed text, so that a statement can tell whether a
   * secret is new: the nonce is a keyed hash of both, and differs for different texts.
   */
  sealText(text: string, context: string): string {
    const hash = createHmac('sha256', this.primary.key)
      .update(JSON.stringify([context, text]))
      .digest();
    const { bytes } = this.sealWith(hash.subarray(0, NONCE_BYTES), text, context);
    return `${this.textPrefix}${bytes.toString('base64')}`;
  }

  /** Values from before sealing existed are returned as they are. */
  openText(text: string, context: string): string {
    if (!isSealedText(text)) return text;
    const [, keyId, encoded] = text.split(':') as [string, string, string];
    return this.open({ keyId, bytes: Buffer.from(encoded, 'base64') }, context);
  }
}

const KEY_ID = /^[A-Za-z0-9._-]{1,50}$/;

/** Reads `id=base64` of 32 bytes each; the first one seals. Messages never contain a key. */
export function readKeys(lines: readonly string[]): SealKey[] {
  const keys = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  return keys.map((line, index) => {
    const [, id = '', encoded = ''] = /^([^=]*)=(.*)$/s.exec(line) ?? [];
    const key = /^[0-9a-f]{64}$/i.test(encoded) ? Buffer.from(encoded, 'hex') : Buffer.from(encoded, 'base64');
    if (!KEY_ID.test(id) || id === DATABASE_KEY_ID || key.length !== KEY_BYTES) {
      throw new SealError(
        `key ${index + 1} of secret.keys must be a name, "=" and 32 bytes in base64 (openssl rand -base64 32)`,
      );
    }
    return { id, key };
  });
}

// Verifies the sender of a webhook (S7). The received bytes are checked before anything is parsed. Any of the secrets may match,
// because the previous one stays valid after a rotation. Comparisons take constant time.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Verification } from '../../core/definition/webhook-schema.ts';
import type { JwtCheck } from './jwt.ts';
import { type Claim, type Headers, type Scheme, schemeOf, textHeader } from './scheme.ts';

export interface SignedRequest {
  /** Every byte is part of the signature. */
  readonly rawBody: Buffer;
  readonly headers: Headers;
  readonly query: Readonly<Record<string, unknown>>;
}

export type Proof =
  /** `seal`: the same for a byte-identical repetition; null: nothing binds the proof to the body. */
  | { readonly ok: true; readonly seal: string | null }
  | { readonly ok: false; readonly expired: boolean; readonly reason: string };

export interface ProofDeps {
  readonly jwt: JwtCheck;
  readonly now: () => number;
}

export async function prove(
  verification: Verification,
  secrets: readonly string[],
  request: SignedRequest,
  { jwt, now }: ProofDeps,
): Promise<Proof> {
  const scheme = schemeOf(verification);
  if (scheme !== null) return proveSignature(scheme, secrets, request, now());
  if (typeof verification === 'string') return { ok: true, seal: null };
  if ('jwt' in verification) return jwt.check(verification.jwt, request);
  if (secrets.length === 0) return refused(NO_SECRET);
  if ('basic' in verification) return proveBasic(verification.basic.username, secrets, request);
  return proveToken(verification as { token: TokenPlace }, secrets, request);
}

const NO_SECRET = 'the webhook has no secret yet: give it the one that the sender signs with';

export const refused = (reason: string, expired = false): Proof => ({ ok: false, expired, reason });

function proveSignature(scheme: Scheme, secrets: readonly string[], request: SignedRequest, now: number): Proof {
  const claim = scheme.read(request.headers);
  if (typeof claim === 'string') return refused(claim);
  if (secrets.length === 0) return refused(NO_SECRET);
  const seal = secrets.map((secret) => macOf(scheme, secret, claim, request.rawBody)).find(isSignedBy(scheme, claim));
  if (seal === undefined) return refused('the signature does not fit the message');
  if (isFresh(scheme, claim, now)) return { ok: true, seal: seal.toString('hex') };
  return refused(`the time of the signature is more than ${durationText(scheme.toleranceS)} off`, true);
}

export function macOf(scheme: Scheme, secret: string, claim: Pick<Claim, 'timestamp' | 'id'>, body: Buffer): Buffer {
  const [before, after] = scheme.around(claim);
  return createHmac(scheme.algorithm, scheme.keyOf(secret)).update(before).update(body).update(after).digest();
}

const ALPHABET = { hex: /^[0-9a-f]+$/i, base64: /^[A-Za-z0-9+/]+={0,2}$/, base64url: /^[\w-]+={0,2}$/ };

function isSignedBy({ encoding }: Scheme, { signatures }: Claim): (mac: Buffer) => boolean {
  // Decoding stops at the first invalid character, so the rest would pass unread.
  const given = signatures.map((signature) =>
    Buffer.from(ALPHABET[encoding].test(signature) ? signature : '', encoding),
  );
  return (mac) => given.some((bytes) => bytes.length === mac.length && timingSafeEqual(bytes, mac));
}

/** A larger number of seconds would be past the year 5138, so it counts milliseconds. */
const MILLISECONDS_FROM = 100_000_000_000;

function isFresh({ toleranceS }: Scheme, { timestamp }: Claim, now: number): boolean {
  if (timestamp === null) return true;
  const given = Number(timestamp);
  const at = given < MILLISECONDS_FROM ? given * 1000 : given;
  return Math.abs(now - at) <= toleranceS * 1000;
}

const durationText = (seconds: number): string =>
  seconds === 300 ? 'five minutes' : seconds % 60 === 0 ? `${seconds / 60} minutes` : `${seconds} seconds`;

// ── Without a signature ─────────────────────────────────────────────────────────────────────────────────────────────

interface TokenPlace {
  readonly header?: string | undefined;
  readonly query?: string | undefined;
}

function proveToken({ token }: { token: TokenPlace }, secrets: readonly string[], request: SignedRequest): Proof {
  const { header, query } = token;
  const given = header === undefined ? request.query[query!] : textHeader(request.headers, header);
  const place = header === undefined ? `the parameter ${query}` : `the header ${header}`;
  if (typeof given !== 'string' || given === '') return refused(`${place} is missing`);
  const bare = header?.toLowerCase() === 'authorization' ? given.replace(/^bearer +/i, '') : given;
  return secrets.some((secret) => isSame(bare, secret))
    ? { ok: true, seal: null }
    : refused(`${place} is not the secret`);
}

function proveBasic(username: string, secrets: readonly string[], { headers }: SignedRequest): Proof {
  const given = textHeader(headers, 'authorization');
  const [, encoded] = /^basic +([\w+/=-]+)$/i.exec(given ?? '') ?? [];
  if (encoded === undefined) return refused('the header Authorization must be Basic');
  const credentials = Buffer.from(encoded, 'base64').toString('utf8');
  return secrets.some((secret) => isSame(credentials, `${username}:${secret}`))
    ? { ok: true, seal: null }
    : refused('the user name or the password is wrong');
}

/** Hashed first, so that the time does not reveal the length either. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

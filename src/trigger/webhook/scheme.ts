// Signature schemes of webhooks: the headers of the signature, the signed bytes, and the algorithm. One row per scheme.
// Verification and samples read the same row, so they cannot disagree. Pure.

import { DEFAULT_TOLERANCE_S, type HmacSettings, type Verification } from '../../core/definition/webhook-schema.ts';
import { SECRET_PREFIX } from '../../protocol/webhook-secret.ts';

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The signature that a request carries. */
export interface Claim {
  /** As in the header, without prefixes. Any of them may match. */
  readonly signatures: readonly string[];
  /** null: the scheme signs no time. */
  readonly timestamp: string | null;
  /** null: the scheme signs no id. */
  readonly id: string | null;
}

export interface Stamp {
  readonly timestamp: string;
  readonly id: string;
  readonly signature: string;
}

export interface Scheme {
  readonly algorithm: string;
  readonly encoding: 'hex' | 'base64' | 'base64url';
  readonly toleranceS: number;
  /** Headers that are not passed on to workflows. */
  readonly proofHeaders: readonly string[];
  /** A text names the missing part. */
  read(headers: Headers): Claim | string;
  /** The signed text before and after the body. */
  around(claim: Pick<Claim, 'timestamp' | 'id'>): readonly [before: string, after: string];
  keyOf(secret: string): string | Buffer;
  /** The headers of a request with this signature. */
  write(stamp: Stamp): Record<string, string>;
}

const PLAIN = {
  algorithm: 'sha256',
  encoding: 'hex',
  toleranceS: DEFAULT_TOLERANCE_S,
  keyOf: (secret: string) => secret,
} as const;

const MESSAGE_ID = /^[\x21-\x7e]{1,200}$/;

/** A usable id of the sender; otherwise undefined. */
export function usableId(id: unknown): string | undefined {
  return typeof id === 'string' && MESSAGE_ID.test(id) ? id : undefined;
}

export const textHeader = (headers: Headers, name: string): string | undefined => {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
};

const standard: Scheme = {
  ...PLAIN,
  encoding: 'base64',
  proofHeaders: ['webhook-signature'],
  read(headers) {
    const id = usableId(headers['webhook-id']);
    if (id === undefined) return 'the header webhook-id is missing or not usable';
    const timestamp = textHeader(headers, 'webhook-timestamp') ?? '';
    if (!/^\d{1,12}$/.test(timestamp)) return 'the header webhook-timestamp must be seconds since 1970';
    const given = textHeader(headers, 'webhook-signature');
    if (given === undefined) return 'the header webhook-signature is missing';
    const signatures = given.split(' ').filter((part) => part.startsWith('v1,'));
    return { id, timestamp, signatures: signatures.map((part) => part.slice('v1,'.length)) };
  },
  around: ({ id, timestamp }) => [`${id}.${timestamp}.`, ''],
  keyOf: (secret) =>
    Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64'),
  write: ({ id, timestamp, signature }) => ({
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }),
};

const stripe: Scheme = {
  ...PLAIN,
  proofHeaders: ['stripe-signature'],
  read(headers) {
    const given = textHeader(headers, 'stripe-signature');
    if (given === undefined) return 'the header stripe-signature is missing';
    const parts = given.split(',').map((part) => part.trim().split('=', 2) as [string, string?]);
    const valuesOf = (name: string) => parts.filter(([key]) => key === name).map(([, value = '']) => value);
    const [timestamp = ''] = valuesOf('t');
    if (!/^\d{1,12}$/.test(timestamp)) return 'the header stripe-signature has no time';
    return { timestamp, id: null, signatures: valuesOf('v1') };
  },
  around: ({ timestamp }) => [`${timestamp}.`, ''],
  write: ({ timestamp, signature }) => ({ 'stripe-signature': `t=${timestamp},v1=${signature}` }),
};

const SLACK: HmacSettings = {
  header: 'x-slack-signature',
  prefix: 'v0=',
  timestampHeader: 'x-slack-request-timestamp',
  content: 'v0:{timestamp}:{body}',
};

/** The common case: a header with the signature, and optionally another one with the time. */
function plainHmac(settings: HmacSettings): Scheme {
  const { header, prefix = '', timestampHeader } = settings;
  const content = settings.content ?? (timestampHeader === undefined ? '{body}' : '{timestamp}.{body}');
  const [before, after] = content.split('{body}') as [string, string];
  return {
    ...PLAIN,
    algorithm: settings.algorithm ?? 'sha256',
    encoding: settings.encoding ?? 'hex',
    toleranceS: settings.toleranceS ?? DEFAULT_TOLERANCE_S,
    proofHeaders: [header.toLowerCase()],
    read(headers) {
      const given = textHeader(headers, header);
      if (given === undefined) return `the header ${header} is missing`;
      if (!given.startsWith(prefix)) return `the header ${header} must begin with ${prefix}`;
      const timestamp = timestampHeader === undefined ? null : (textHeader(headers, timestampHeader) ?? '');
      if (timestamp !== null && !/^\d{1,13}$/.test(timestamp))
        return `the header ${timestampHeader} must be seconds since 1970`;
      return { timestamp, id: null, signatures: [given.slice(prefix.length)] };
    },
    around: ({ timestamp }) => [before.replace('{timestamp}', timestamp ?? ''), after],
    write: ({ timestamp, signature }) => ({
      [header.toLowerCase()]: `${prefix}${signature}`,
      ...(timestampHeader === undefined ? {} : { [timestampHeader.toLowerCase()]: timestamp }),
    }),
  };
}

const BY_NAME: Readonly<Record<string, Scheme>> = {
  standard,
  stripe,
  github: plainHmac({ header: 'x-hub-signature-256', prefix: 'sha256=' }),
  slack: plainHmac(SLACK),
  shopify: plainHmac({ header: 'x-shopify-hmac-sha256', encoding: 'base64' }),
};

/** null: the sender proves itself without a signature, or not at all. */
export function schemeOf(verification: Verification): Scheme | null {
  if (typeof verification === 'string') return BY_NAME[verification] ?? null;
  return 'hmac' in verification ? plainHmac(verification.hmac) : null;
}

export type VerificationKind =
  | 'standard'
  | 'github'
  | 'stripe'
  | 'slack'
  | 'shopify'
  | 'none'
  | 'hmac'
  | 'token'
  | 'basic'
  | 'jwt';

export const kindOf = (verification: Verification): VerificationKind =>
  typeof verification === 'string' ? verification : (Object.keys(verification)[0] as VerificationKind);

/** Providers whose settings page creates the secret once it knows the address. */
const MAKE_THEIR_OWN: ReadonlySet<VerificationKind> = new Set(['stripe', 'slack', 'shopify']);
const WITHOUT_SECRET: ReadonlySet<VerificationKind> = new Set(['none', 'jwt']);

export const hasOwnSecret = (kind: VerificationKind): boolean => MAKE_THEIR_OWN.has(kind);
export const needsSecret = (kind: VerificationKind): boolean => !WITHOUT_SECRET.has(kind);

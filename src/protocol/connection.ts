// Connections on the wire: credentials of a tenant for other systems. Secret fields come in and never go out.

import { z } from 'zod';
import { label, tenantId, timestamp } from './identifier.ts';
import { pageQuery } from './page.ts';

export const CONNECTION_KINDS = [
  'token',
  'header',
  'basic',
  'oauth2-client-credentials',
  'oauth2-code',
  'aws-sigv4',
] as const;
export type ConnectionKind = (typeof CONNECTION_KINDS)[number];

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const connectionName = z.string().regex(NAME, 'must be at most 100 letters, digits, ".", "_" and "-"');

const text = (most: number) => z.string().min(1).max(most);
/** The value itself, or a reference to it. */
const secretRef = z.strictObject({ provider: text(100), key: text(255), version: text(100).optional() });
const secret = z.union([text(10_000), secretRef], { error: 'must be a text, or { provider, key } of a secret' });
const url = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2_000);
const scope = z.union([z.string().max(2_000), z.array(z.string().max(200)).max(100)]);
const header = z
  .string()
  .max(100)
  .regex(/^[!#$%&'*+.^_`|~0-9a-z-]+$/i, 'must be the name of a header');

/** The public and the secret fields of each kind. */
export const KIND_FIELDS = {
  token: { shown: { checkUrl: url.optional() }, secret: { token: secret } },
  header: { shown: { header, checkUrl: url.optional() }, secret: { value: secret } },
  basic: {
    shown: { username: text(500).regex(/^[^:]*$/, 'must have no colon'), checkUrl: url.optional() },
    secret: { password: secret },
  },
  'oauth2-client-credentials': {
    shown: {
      tokenUrl: url,
      clientId: text(500),
      scope: scope.optional(),
      audience: text(500).optional(),
      clientAuth: z.enum(['basic', 'body']).optional(),
      checkUrl: url.optional(),
    },
    secret: { clientSecret: secret },
  },
  'oauth2-code': {
    shown: {
      authorizationUrl: url,
      tokenUrl: url,
      clientId: text(500),
      scope: scope.optional(),
      clientAuth: z.enum(['basic', 'body']).optional(),
      parameters: z.record(z.string(), z.string().max(500)).optional(),
      checkUrl: url.optional(),
    },
    secret: { clientSecret: secret.optional(), refreshToken: secret.optional() },
  },
  'aws-sigv4': {
    shown: { accessKeyId: text(200), region: text(100), service: text(100), checkUrl: url.optional() },
    secret: { secretAccessKey: secret, sessionToken: secret.optional() },
  },
} as const satisfies Record<ConnectionKind, { shown: z.ZodRawShape; secret: z.ZodRawShape }>;

const host = z
  .string()
  .max(253)
  .regex(
    /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i,
    'must be a host such as api.example.com, *.example.com or host:8080',
  );

const common = {
  connector: text(100).describe('`http`, or the connector whose actions use it'),
  allowedHosts: z.array(host).max(100).optional().describe('hosts that the credential may be sent to; absent: any'),
  isDefault: z.boolean().optional().describe('used by nodes of the connector that name no connection'),
  principal: text(200).optional().describe("whose own credential it is; absent: everybody's of the tenant"),
  tenantId: tenantId.optional(),
};

function ofKind<Kind extends ConnectionKind>(kind: Kind) {
  const { shown, secret: hidden } = KIND_FIELDS[kind];
  return z.strictObject({ name: connectionName, kind: z.literal(kind), ...common, ...shown, ...hidden });
}

export const connectionRequest = z
  .discriminatedUnion(
    'kind',
    [
      ofKind('token'),
      ofKind('header'),
      ofKind('basic'),
      ofKind('oauth2-client-credentials'),
      ofKind('oauth2-code'),
      ofKind('aws-sigv4'),
    ],
    { error: `must have a \`kind\`: ${CONNECTION_KINDS.join(', ')}` },
  )
  .meta({ id: 'ConnectionRequest' });

/** Omitted fields stay as they are. */
export const connectionChange = z.looseObject({}).meta({
  id: 'ConnectionChange',
  description:
    'The fields to change, as in the request that makes a connection: the new secret, allowedHosts, isDefault, …',
});

export const connectionSchema = z
  .looseObject({
    name: z.string(),
    connector: z.string(),
    kind: z.enum(CONNECTION_KINDS),
    principal: z.string().optional(),
    allowedHosts: z.array(z.string()),
    isDefault: z.boolean(),
    status: z.enum(['ready', 'unauthorized']).describe('unauthorized: what must be done is in `problem`'),
    problem: z.string().optional(),
    lastUsedAt: timestamp.optional(),
    check: z.object({ at: timestamp, ok: z.boolean(), message: z.string().optional() }).optional(),
    usedBy: z.array(z.object({ kind: z.enum(['workflow', 'consumer']), id: z.string() })).optional(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Connection', description: 'With the settings of its kind; never with its secrets.' });

export const connectionParams = z.object({ name: connectionName });
export const connectionQuery = z.object({
  principal: label(200).optional().describe("whose own; absent: the tenant's"),
});
export const connectionListQuery = z.object({
  connector: label(100).optional(),
  ...pageQuery,
});

export const connectionCheckAnswer = z
  .object({ ok: z.boolean(), message: z.string().optional() })
  .meta({ id: 'ConnectionCheck' });
export const authorizeAnswer = z
  .object({ authorizationUrl: z.string().describe('where the person who owns the account signs in') })
  .meta({ id: 'ConnectionAuthorize' });

export const secretName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,254}$/, 'must be letters, digits, ".", "_", "/" and "-"');
export const secretParams = z.object({ name: secretName });
export const secretRequest = z
  .strictObject({
    value: z
      .string()
      .min(1)
      .max(64 * 1024),
    environmentId: z.string().max(200).optional().describe('absent: of every environment'),
    tenantId: tenantId.optional(),
  })
  .meta({ id: 'SecretRequest' });
export const secretQuery = z.object({ environmentId: z.string().max(200).optional() });
export const secretListQuery = z.object(pageQuery);
export const secretSchema = z
  .object({
    name: z.string(),
    environmentId: z.string().optional(),
    version: z.int(),
    createdAt: timestamp,
    createdBy: z.string(),
  })
  .meta({ id: 'Secret', description: 'Never with its value.' });

// How an incoming webhook proves its sender, in a trigger's `config` and a pipeline's `webhook`. Shape only; pure.

import { z } from 'zod';
import { CONTROL_CHARACTERS } from '../json/control-character.ts';
import { HTTP_TOKEN } from './http-header.ts';

/** Schemes that need no settings. */
export const NAMED_VERIFICATIONS = ['standard', 'github', 'stripe', 'slack', 'shopify', 'none'] as const;
const SETTING_NAMES = ['hmac', 'token', 'basic', 'jwt'] as const;

export const DEFAULT_TOLERANCE_S = 300;

const header = z.string().max(100).regex(HTTP_TOKEN, 'must be the name of a header');
const text = z.string().min(1).max(200);

const hmac = z
  .strictObject({
    header: header.meta({ description: 'The header that carries the signature.' }),
    algorithm: z.enum(['sha1', 'sha256', 'sha384', 'sha512']).optional().meta({ default: 'sha256' }),
    encoding: z.enum(['hex', 'base64', 'base64url']).optional().meta({ default: 'hex' }),
    prefix: z.string().max(50).optional().meta({ description: 'What stands before the signature, e.g. "sha256=".' }),
    timestampHeader: header.optional().meta({ description: 'The header with the time of sending, in Unix seconds.' }),
    toleranceS: z
      .int()
      .min(1)
      .max(86_400)
      .optional()
      .meta({ description: 'How old a request may be; needs `timestampHeader`.', default: DEFAULT_TOLERANCE_S }),
    content: z
      .string()
      .max(200)
      .regex(/^[^{}]*(\{timestamp\}[^{}]*)?\{body\}[^{}]*$/, 'must be a text with {body}, and {timestamp} before it')
      .optional()
      .meta({ description: 'What is signed: "{body}", or "{timestamp}.{body}" where there is a `timestampHeader`.' }),
  })
  .refine(
    ({ timestampHeader, content }) => timestampHeader !== undefined || content?.includes('{timestamp}') !== true,
    {
      error: '`content` with {timestamp} needs `timestampHeader`',
      path: ['content'],
    },
  )
  .refine(
    ({ timestampHeader, content }) => timestampHeader === undefined || content?.includes('{timestamp}') !== false,
    {
      error: 'must have {timestamp}: a time that is not signed proves nothing',
      path: ['content'],
    },
  )
  .refine(({ timestampHeader, toleranceS }) => timestampHeader !== undefined || toleranceS === undefined, {
    error: 'needs `timestampHeader`',
    path: ['toleranceS'],
  });

const token = z
  .strictObject({ header: header.optional(), query: text.optional() })
  .refine((given) => (given.header === undefined) !== (given.query === undefined), {
    error: 'needs either `header` or `query`',
  });

const USERNAME = new RegExp(`^[^:${CONTROL_CHARACTERS}]+$`);
const basic = z.strictObject({ username: text.regex(USERNAME, 'must have no colon') });

const jwt = z.strictObject({
  jwksUrl: z
    .string()
    .max(2_000)
    .regex(/^https?:\/\/[^\s/?#@]+/i, 'must be an http or https URL'),
  audience: text.optional(),
  issuer: text.optional(),
});

export const VERIFICATION_SETTINGS = { hmac, token, basic, jwt } as const;

const verification = z.union(
  [
    z.enum(NAMED_VERIFICATIONS),
    z.strictObject({ hmac }),
    z.strictObject({ token }),
    z.strictObject({ basic }),
    z.strictObject({ jwt }),
  ],
  {
    error: `must be one of ${NAMED_VERIFICATIONS.map((name) => `"${name}"`).join(', ')}, or an object with ${SETTING_NAMES.join(', ')}`,
  },
);

export type Verification = z.output<typeof verification>;
export type HmacSettings = z.output<typeof hmac>;

export const webhookFields = {
  verification: verification.optional().meta({
    description: 'How a request proves its sender. Absent: `standard` where there is a secret.',
  }),
  secret: z.string().optional().meta({
    description: 'What the sender signs with. Kept apart from the definition, and never shown.',
    writeOnly: true,
  }),
  allowUnsigned: z.boolean().optional().meta({
    description: 'Says that `verification: "none"` is meant, where requests must be authenticated.',
  }),
  respond: z
    .enum(['accepted', 'result'])
    .optional()
    .meta({ description: 'When the sender is answered: at once, or with the outcome.', default: 'accepted' }),
  deliveryIdHeader: header.optional().meta({
    description: "The header with the sender's own id of a delivery: the same id starts nothing twice.",
  }),
  verifyToken: text.optional().meta({
    description: 'What Meta sends as hub.verify_token when it checks the address.',
  }),
};

export const webhookSchema = z.strictObject(webhookFields);
export type WebhookSettings = z.output<typeof webhookSchema>;

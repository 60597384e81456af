// The settings of a webhook, in a trigger's `config` or a pipeline's `webhook`, and their defaults. All problems are reported at
// once.

import { issueMessage } from '../../core/definition/issue-message.ts';
import {
  VERIFICATION_SETTINGS,
  type Verification,
  type WebhookSettings,
  webhookFields,
  webhookSchema,
} from '../../core/definition/webhook-schema.ts';
import { isJsonObject, type JsonObject } from '../../core/json/json.ts';
import { childPointer } from '../../core/problem/pointer.ts';
import type { Problem } from '../../core/problem/problem.ts';
import { secretProblem } from '../../protocol/webhook-secret.ts';
import { hasOwnSecret, kindOf, needsSecret } from './scheme.ts';

export const WEBHOOK_FIELDS: readonly string[] = Object.keys(webhookFields);

const MAX_SECRET = 500;

/** Checks only the fields of a webhook; the caller checks the others. */
export function webhookProblems(given: JsonObject, at: string): Problem[] {
  const known = Object.fromEntries(Object.entries(given).filter(([name]) => WEBHOOK_FIELDS.includes(name)));
  const { verification, ...rest } = known as JsonObject;
  const problems = issuesOf(webhookSchema, rest, at);
  if (verification !== undefined) problems.push(...verificationProblems(verification, `${at}/verification`));
  if (problems.length > 0) return problems;
  return givenSecretProblems(known as WebhookSettings, `${at}/secret`);
}

/** By the named scheme, so that the problem names it too. */
function verificationProblems(verification: unknown, at: string): Problem[] {
  if (isJsonObject(verification as never)) {
    const [kind, ...others] = Object.keys(verification as object);
    if (others.length === 0 && kind !== undefined && Object.hasOwn(VERIFICATION_SETTINGS, kind)) {
      const schema = VERIFICATION_SETTINGS[kind as keyof typeof VERIFICATION_SETTINGS];
      return issuesOf(schema, (verification as JsonObject)[kind], childPointer(at, kind));
    }
  }
  return issuesOf(webhookFields.verification, verification, at);
}

interface Parses {
  safeParse(value: unknown): { readonly error?: { readonly issues: readonly Issue[] } | undefined };
}
type Issue = Parameters<typeof issueMessage>[0];

function issuesOf(schema: Parses, value: unknown, at: string): Problem[] {
  return (schema.safeParse(value).error?.issues ?? []).flatMap((issue) => {
    const path = issue.path.reduce<string>((pointer, part) => childPointer(pointer, String(part)), at);
    if (issue.code !== 'unrecognized_keys') return [{ code: 'CONFIG_INVALID', path, message: issueMessage(issue) }];
    return issue.keys.map((key) => ({
      code: 'UNKNOWN_FIELD',
      path: childPointer(path, key),
      message: 'is not known here',
    }));
  });
}

function givenSecretProblems({ verification = 'standard', secret }: WebhookSettings, path: string): Problem[] {
  if (secret === undefined) return [];
  const message = usableSecret(verification, secret);
  return message === undefined ? [] : [{ code: 'CONFIG_INVALID', path, message }];
}

/** undefined: the secret suits the scheme. */
export function usableSecret(verification: Verification, secret: string): string | undefined {
  const kind = kindOf(verification);
  if (!needsSecret(kind)) return `is not used with the verification ${kind}: leave it out`;
  if (kind === 'standard') return secretProblem(secret);
  if (secret.trim() === '') return 'must not be empty';
  return secret.length > MAX_SECRET ? `must have at most ${MAX_SECRET} characters` : undefined;
}

/** The default verification: a secret is used if there is one; without one, only a loose server accepts the request. */
export function verificationOf(
  { verification }: Pick<WebhookSettings, 'verification'>,
  { hasSecret, strict }: { readonly hasSecret: boolean; readonly strict: boolean },
): Verification {
  return verification ?? (hasSecret || strict ? 'standard' : 'none');
}

/** Strict: unsigned requests must be allowed explicitly. */
export function unsignedProblem(
  { verification, allowUnsigned }: WebhookSettings,
  strict: boolean,
  at: string,
): Problem | null {
  if (!strict || verification !== 'none' || allowUnsigned === true) return null;
  return {
    code: 'UNSIGNED_WEBHOOK',
    path: `${at}/verification`,
    message: 'anybody who knows the address could start this workflow',
    suggestion: 'choose a verification, or say that it is meant with `"allowUnsigned": true`',
  };
}

/** For a pipeline's `webhook`. */
export function pipelineWebhookProblems(webhook: JsonObject, strict: boolean): Problem[] {
  const problems = webhookProblems(webhook, '/webhook');
  const unsigned = problems.length > 0 ? null : unsignedProblem(webhook as WebhookSettings, strict, '/webhook');
  return unsigned === null ? problems : [unsigned];
}

/** Whether to generate a secret: not if the sender provides one, nor if the verification uses none. */
export function makesSecret(settings: WebhookSettings, hasSecret: boolean): boolean {
  const { verification, secret } = settings;
  if (verification === undefined || secret !== undefined || hasSecret) return false;
  const kind = kindOf(verification);
  return needsSecret(kind) && !hasOwnSecret(kind);
}

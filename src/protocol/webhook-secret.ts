// The form of a Standard Webhooks secret: `whsec_` and 24 to 64 bytes in base64. Pure.

export const SECRET_PREFIX = 'whsec_';
/** The length of secrets that we generate. */
export const NEW_SECRET_BYTES = 32;

/** The prefix of a sealed secret (secret/box.ts). A sealed text is never used to sign or verify. */
export const SEALED_PREFIX = 'sealed:';
export const isSealedText = (text: string): boolean => text.startsWith(SEALED_PREFIX);

const BASE64 = /^[A-Za-z0-9+/]+(={0,2})$/;
const SECRET_BYTES = { least: 24, most: 64 };

/** undefined: the secret can be used. */
export function secretProblem(secret: string): string | undefined {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  const { least, most } = SECRET_BYTES;
  const padding = BASE64.exec(encoded)?.[1]?.length;
  const bytes = padding === undefined || encoded.length % 4 !== 0 ? 0 : (encoded.length / 4) * 3 - padding;
  return bytes >= least && bytes <= most ? undefined : `must be whsec_ and ${least} to ${most} bytes in base64`;
}

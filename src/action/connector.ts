// A connector groups actions that share one credential. Actions name theirs by id. A connector without a description gets one
// from its id, so that a user's first action needs one definition, not two.

import { z } from 'zod';

export interface ConnectorDefinition {
  readonly id: string;
  readonly displayName: string;
  readonly description: string;
  readonly version: string;
  /** How its credential is sent; absent: it needs none. */
  readonly authType?: 'Bearer' | 'ApiKey' | 'Basic' | 'OAuth2';
  /** The documentation of the other system. */
  readonly documentationUrl?: string;
  /** Absent: its first letter, see `monogram`. */
  readonly iconUrl?: string;
  /** Its settings, by environment variable. */
  readonly config?: z.ZodObject;
}

export function connectorFromId(id: string): ConnectorDefinition {
  const displayName = id
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
  return { id, displayName, description: `Actions of ${displayName}.`, version: '1.0.0' };
}

/** The variable that holds a connector's token. */
export const secret = (description: string): z.ZodString => z.string().meta({ description, writeOnly: true });

/** An inline icon that needs no other server and is not a trademark. */
export function monogram({ id, displayName }: Pick<ConnectorDefinition, 'id' | 'displayName'>): string {
  const hue = [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 0);
  const letter = /[\p{L}\p{N}]/u.exec(displayName)?.[0].toUpperCase() ?? '';
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="hsl(${hue},55%,42%)"/>` +
    `<text x="16" y="22.5" font-family="system-ui,sans-serif" font-size="18" font-weight="600" fill="#fff" text-anchor="middle">${letter}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

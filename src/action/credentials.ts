// Connector credentials from environment variables: one static token per connector, in
// CONNECTOR_<ID>_TOKEN with the id in upper case and `_` for `-` and `.`. The record comes from config.ts, the only
// reader of the environment.

import type { Credentials } from './action.ts';

export function environmentCredentials(environment: Readonly<Record<string, string | undefined>>): Credentials {
  const tokens = new Map(Object.entries(environment).filter(([name, value]) => VARIABLE.test(name) && value !== ''));
  return {
    // Every attempt asks, and most installations have no such token.
    token: (connectorId) => (tokens.size === 0 ? undefined : tokens.get(credentialVariable(connectorId))),
  };
}

const VARIABLE = /^CONNECTOR_.*_TOKEN$/;

/** For messages that name the variable to set. */
export function credentialVariable(connectorId: string): string {
  return `CONNECTOR_${connectorId.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_TOKEN`;
}

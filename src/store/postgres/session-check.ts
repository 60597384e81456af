// Checks the real session of a connection once when a store opens: a pooler, a proxy or an extension may drop settings silently,
// and with another search_path we would write to another installation's tables.

import type { Settings } from '../connection/settings.ts';
import type { Session } from './database.ts';
import { statement } from './statement.ts';

const SESSION_SETTINGS = statement('session_settings');

/** Its message is for the person who set the database up. */
export class SessionSettingsError extends Error {
  override readonly name = 'SessionSettingsError';
}

export interface SessionCheck {
  /** Acknowledged work may be lost when the server crashes (I1). */
  readonly isAsync: boolean;
}

/** Not settings of a transaction: its isolation is checked instead, and the encoding is the client's own. */
const NOT_COMPARED = ['default_transaction_isolation', 'client_encoding'];

export async function checkSession(session: Session, settings: Settings): Promise<SessionCheck> {
  const wanted = Object.entries(settings).filter(([name]) => !NOT_COMPARED.includes(name));
  const expected = new Map([...wanted, ['transaction_isolation', 'read committed']]);
  const names = [...expected.keys(), 'synchronous_commit'];
  const rows = await session.run<{ name: string; value: string }>(SESSION_SETTINGS, [names]);
  const found = new Map(rows.map(({ name, value }) => [name, value]));
  const different = [...expected].filter(([name, value]) => found.get(name) !== value);
  if (different.length > 0) {
    const list = different.map(([name, value]) => `${name} is ${found.get(name)} instead of ${value}`).join(', ');
    throw new SessionSettingsError(
      `the database connection does not keep the settings that Pawl makes: ${list}. Connect to PostgreSQL itself, or set database.directUrl to it if DATABASE_URL leads through a transaction pooler.`,
    );
  }
  return { isAsync: found.get('synchronous_commit') === 'off' };
}

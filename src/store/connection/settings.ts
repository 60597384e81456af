// The settings that our statements rely on. A role, a database or a URL may have others, so we apply ours on every connection
// and, behind a transaction pooler, in every transaction.

export type Settings = Readonly<Record<string, string>>;

export interface SettingsOptions {
  readonly schema: string;
  /** Leaves synchronous_commit as the server has it: a crash of the server may lose acknowledged commits. */
  readonly allowAsyncCommit?: boolean | undefined;
}

export const commonSettings = ({ schema, allowAsyncCommit = false }: SettingsOptions): Settings => ({
  search_path: quoteIdentifier(schema),
  client_encoding: 'UTF8',
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  jit: 'off',
  // A takeover must see the last claims of the fenced runner (I4, I12), which a transaction-wide snapshot would hide.
  default_transaction_isolation: 'read committed',
  // Acknowledged is durable (I1).
  ...(allowAsyncCommit ? {} : { synchronous_commit: 'on' }),
});

export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const quoteLiteral = (text: string): string => {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted;
};

/** For the rest of the session. */
export function setForSession(settings: Settings): string {
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', ${quoteLiteral(value)}, false)`);
  return `select ${calls.join(', ')}`;
}

/** Begins a transaction with these settings. */
export function beginWith(settings: Settings): string {
  const local = Object.entries(settings)
    .filter(([name]) => name !== 'default_transaction_isolation' && name !== 'client_encoding')
    .map(([name, value]) => `set_config('${name}', ${quoteLiteral(value)}, true)`);
  return `begin isolation level read committed; select ${local.join(', ')}`;
}

// The settings that our statements rely on. A role, a database or a URL may have others, so we set ours on every connection; and
// where a pooler hands each transaction to another server connection, in every transaction.

export type Settings = Readonly<Record<string, string>>;

export interface SettingsOptions {
  readonly schema: string;
  /** Leave synchronous_commit as the server has it: what was acknowledged may be lost when the server crashes. */
  readonly allowAsyncCommit?: boolean | undefined;
}

export const commonSettings = ({ schema, allowAsyncCommit = false }: SettingsOptions): Settings => ({
  search_path: quoteIdentifier(schema),
  client_encoding: 'UTF8',
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  jit: 'off',
  // A takeover must see what the fenced runner claimed last (I4, I12): a snapshot of the whole transaction would not show it.
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

/** Begins a transaction, and sets them until its end. */
export function beginWith(settings: Settings): string {
  const local = Object.entries(settings)
    .filter(([name]) => name !== 'default_transaction_isolation' && name !== 'client_encoding')
    .map(([name, value]) => `set_config('${name}', ${quoteLiteral(value)}, true)`);
  return `begin isolation level read committed; select ${local.join(', ')}`;
}
